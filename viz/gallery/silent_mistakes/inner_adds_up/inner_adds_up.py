import engine as torch

x = torch.tensor(3.0, requires_grad=True)
y = 2 * x
y.retain_grad()
z = y * y
z.backward(retain_graph=True)
x.grad = None
z.backward()
print(x.grad, y.grad)
