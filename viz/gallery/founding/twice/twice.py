import engine as torch

a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
c = torch.tensor(1.0, requires_grad=True)

y = 3 * a + 2 * b * b + torch.log(c)

y.backward(retain_graph=True)
print(a.grad, b.grad, c.grad)

y.backward()
print(a.grad, b.grad, c.grad)
