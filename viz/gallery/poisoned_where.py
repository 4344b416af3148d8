import engine as torch

x = torch.tensor([0., 4], requires_grad=True)
zero = torch.zeros(2)
one = torch.ones(2)

y = torch.where(x > 0, 1 / x, zero)
print(y)
y.sum().backward()
print(x.grad)

x.grad = None
safe = torch.where(x > 0, x, one)
y = torch.where(x > 0, 1 / safe, zero)
print(y)
y.sum().backward()
print(x.grad)
