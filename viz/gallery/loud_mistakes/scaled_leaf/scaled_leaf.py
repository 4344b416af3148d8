import engine as torch

w = torch.tensor([1., 2, 3], requires_grad=True) * 0.1
loss = (w * w).sum()
loss.backward()
print(w.is_leaf, w.grad)
