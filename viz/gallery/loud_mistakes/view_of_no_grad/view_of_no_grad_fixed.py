import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)
y = 2 * x
with torch.no_grad():
    y[:2].mul_(10)
y.sum().backward()
print(y, x.grad)
