import engine as torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x * x
(slope,) = torch.autograd.grad(y, x, create_graph=True)
print(slope)
slope.backward()
print(x.grad)
