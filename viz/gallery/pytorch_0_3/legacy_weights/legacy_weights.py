import engine as torch

autograd = torch.autograd

a = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
c = torch.zeros(1, requires_grad=True)

y = 3 * a + 2 * b * b + torch.log(c)

weights = torch.tensor([0.1, 1.0, 0.0001])
with autograd.legacy_broadcasting():
    y.backward(weights)

print(a.grad, b.grad, c.grad)
