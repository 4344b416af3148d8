import engine as torch

x = torch.tensor([0.5, 1.0], requires_grad=True)
a = x * x
b = torch.sin(a)
c = torch.exp(a)
y = (b * c).sum()

y.backward()
print(x.grad)
