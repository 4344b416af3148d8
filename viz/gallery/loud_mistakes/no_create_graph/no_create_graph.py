import engine as torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x * x
(slope,) = torch.autograd.grad(y, x)
print(slope)
slope.backward()
