import engine as torch

w = (torch.tensor([1., 2, 3]) * 0.1).requires_grad_()
loss = (w * w).sum()
loss.backward()
print(w.is_leaf, w.grad)
