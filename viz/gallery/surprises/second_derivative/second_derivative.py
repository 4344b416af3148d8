import engine as torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x * x

(first,) = torch.autograd.grad(y, x, create_graph=True)
print(first)

(second,) = torch.autograd.grad(first, x)
print(second)

with torch.no_grad():
    newton = x - first / second
print(newton)
