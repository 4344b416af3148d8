import engine as torch

x = torch.tensor([[1., 2, 3, 4]], requires_grad=True)
z = 2 * x
loss = z.sum(dim=1)

z.backward(torch.tensor([[1., 0, 0, 0]]),
           retain_graph=True)
print(x.grad)

z.backward(torch.tensor([[0., 1, 0, 0]]),
           retain_graph=True)
print(x.grad)

z.backward(torch.tensor([[1., 1, 1, 1]]),
           retain_graph=True)
print(x.grad)

loss.backward()
print(x.grad)
