import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)
y = torch.tensor(x * x, requires_grad=True)
y.sum().backward()
print(y.grad)
