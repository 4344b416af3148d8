import engine as torch

a = torch.tensor([[1., 2, 3], [4, 5, 6]], requires_grad=True)

out = a * a
out.backward(a)
print(a.grad)

a.grad.zero_()
out = a * a
out.backward(torch.ones(2, 3))
print(a.grad)

a.grad.zero_()
out = a * a
out.backward(torch.tensor([[0., 0, 0], [0, 0, -1]]))
print(a.grad)
