import engine as torch

a = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
c = torch.zeros(1, requires_grad=True)

y = 3 * a + 2 * b * b + torch.log(c)
print(y)

y.backward(torch.tensor([0.1]))
print(a.grad, b.grad, c.grad)
