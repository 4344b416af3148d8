import engine as torch

w = torch.tensor([1., 2, 3], requires_grad=True)
kept = torch.tensor([0., 1, 1])
loss = (w * kept * w).sum()
loss.backward()
print(w.grad)
