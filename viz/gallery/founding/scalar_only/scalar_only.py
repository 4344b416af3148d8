import engine as torch

a = torch.tensor([[1., 2, 3], [4, 5, 6]], requires_grad=True)
out = a * a

total = out.sum()
total.backward(retain_graph=True)
print(a.grad)

a.grad.zero_()
out.backward(torch.ones(2, 3), retain_graph=True)
print(a.grad)

a.grad.zero_()
out.backward()
