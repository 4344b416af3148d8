import engine as torch

x = torch.tensor([-1., 0, 1], requires_grad=True)
y = torch.relu(x)
y.sum().backward()
print(x.grad)
