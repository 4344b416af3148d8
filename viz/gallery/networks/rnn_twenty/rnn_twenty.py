import engine as torch

x = torch.tensor([[0.5, -0.3]])
U = torch.tensor(
    [[0.5, 0.3], [-0.3, 0.5]],
    requires_grad=True)

h = torch.zeros(1, 2)
for t in range(20):
    h = torch.tanh(h @ U + x)

loss = h.sum()
loss.backward()
print(U.grad)
