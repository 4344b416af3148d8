import engine as torch

F = torch.nn.functional

table = torch.tensor(
    [[0.1, 0.2], [0.3, -0.1],
     [-0.2, 0.5], [0.4, 0.4]],
    requires_grad=True)
words = torch.tensor([2, 0, 2, 2])
weights = torch.tensor(
    [[1., 1.], [10., 10.],
     [100., 100.], [1000., 1000.]])

vectors = F.embedding(words, table)
loss = (vectors * weights).sum()
loss.backward()

with torch.no_grad():
    table -= 0.001 * table.grad
print(table)
