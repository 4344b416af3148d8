import engine as torch

w = torch.tensor([1., 2, 3], requires_grad=True)
w[0] = 0.0
loss = (w * w).sum()
loss.backward()
