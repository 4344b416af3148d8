import engine as torch

x = torch.tensor([[1., 2], [3, 4]], requires_grad=True)
y = 2 * x
z = y ** 3
out = z.mean()

out.backward(torch.tensor(1.0), retain_graph=True)
print(x.grad)

x.grad.zero_()
out.backward(torch.tensor([1.0]))
