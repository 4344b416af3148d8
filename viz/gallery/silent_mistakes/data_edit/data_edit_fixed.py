import engine as torch

y = torch.tensor([1., 1], requires_grad=True)
z = (y * y).sum()
z.backward()
y.data.mul_(10)
print(y.grad)
