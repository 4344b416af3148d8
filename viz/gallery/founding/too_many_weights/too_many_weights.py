import engine as torch

a = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
c = torch.zeros(1, requires_grad=True)

y = 3 * a + 2 * b * b + torch.log(c)

weights = torch.tensor([0.1, 1.0, 0.0001])
y.backward(weights.sum().view(1), retain_graph=True)
print(a.grad, b.grad, c.grad)

y.backward(weights)
