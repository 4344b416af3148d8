import engine as torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x * x
y.backward(create_graph=True)
print(x.grad)
x.grad.backward()
print(x.grad)
