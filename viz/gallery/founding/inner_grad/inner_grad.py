import engine as torch

x = torch.tensor([2.0], requires_grad=True)
y = 2 * x
z = y ** 3
z.backward()

print(z.grad)
print(y.grad)
print(x.grad, 24 * x.data ** 2)

x.grad = None
y = 2 * x
y.retain_grad()
z = y ** 3
z.backward()

print(y.grad)
print(x.grad)
