import engine as torch

scale = torch.exp(torch.tensor([0., 1, 2]))
x = torch.tensor([1., 2, 3], requires_grad=True)
loss = (scale * x * x).sum()
loss.backward()
print(x.grad)
