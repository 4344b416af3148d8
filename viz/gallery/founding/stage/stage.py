import engine as torch

x = torch.tensor([1., 2, 4], requires_grad=True)
y = x * x
z = torch.log(y).sum()

(dz_dx,) = torch.autograd.grad(z, x, retain_graph=True)
print(dz_dx)

(dz_dy,) = torch.autograd.grad(z, y, retain_graph=True)
print(dz_dy)

y.backward(dz_dy)
print(x.grad)
