import engine as torch

x = torch.tensor([[1., 2], [3, 4]], requires_grad=True)
y = 2 * x
z = y ** 3

row = torch.tensor([1., 0])
weights = row.expand(2, 2)
z.backward(weights, retain_graph=True)
print(x.grad)

x.grad.zero_()
z.backward(row)
