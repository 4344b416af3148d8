import engine as torch

x = torch.tensor([0., 4], requires_grad=True)
y = torch.where(x > 0, 1 / x, torch.zeros(2))
print(y)
y.sum().backward()
print(x.grad)
