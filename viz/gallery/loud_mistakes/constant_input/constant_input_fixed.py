import engine as torch

w = torch.tensor([1., 2], requires_grad=True)
x = torch.tensor([3., 4], requires_grad=True)
loss = (w * x).sum()
grads = torch.autograd.grad(loss, x)
print(grads)
