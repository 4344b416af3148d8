import engine as torch

x = torch.ones(2, 3, requires_grad=True)
a = torch.ones(3, 4)
out = torch.mm(x, a)

weights = torch.tensor([[1., 2, 3, 4], [5, 6, 7, 8]])

out.backward(weights, retain_graph=True)
print(x.grad)

x.grad.zero_()
out.backward(weights)
print(x.grad)

x.grad.zero_()
out.backward(weights)
