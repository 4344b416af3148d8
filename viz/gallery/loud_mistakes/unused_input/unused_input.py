import engine as torch

w = torch.tensor([1., 2], requires_grad=True)
b = torch.tensor([5., 5], requires_grad=True)
loss = (w * w).sum()
grads = torch.autograd.grad(loss, [w, b])
