import engine as torch

y = torch.tensor([1., 1], requires_grad=True)
z = (y * y).sum()
y.data.mul_(10)
z.backward()
print(y.grad)
