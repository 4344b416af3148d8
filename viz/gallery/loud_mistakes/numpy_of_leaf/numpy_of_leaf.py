import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)
y = x * x
print(y.numpy())
y.sum().backward()
print(x.grad)
