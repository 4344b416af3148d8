import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)
weights = torch.tensor([1., 10, 100])
y = x ** 2
y.retain_grad()

y.register_hook(print)
y.backward(weights, retain_graph=True)
print(x.grad)

x.grad = y.grad = None
y.register_hook(lambda grad: grad.clamp(max=10))
y.backward(weights, retain_graph=True)
print(x.grad)

x.grad = y.grad = None
x.register_hook(lambda grad: -grad)
y.backward(weights)
print(x.grad)
