import engine as torch

x = torch.tensor([-1., 0, 1], requires_grad=True)
y = x.clamp(min=0)
y.sum().backward()
print(x.grad)
