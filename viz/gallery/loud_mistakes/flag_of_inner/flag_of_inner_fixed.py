import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)
y = x * x
y = y.detach()
loss = (x * y).sum()
loss.backward()
print(x.grad)
