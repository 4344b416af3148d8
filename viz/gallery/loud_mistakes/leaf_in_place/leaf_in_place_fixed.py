import engine as torch

w = torch.tensor([1., -2], requires_grad=True)
x = torch.tensor([3., 4])

loss = (w * x).sum()
loss.backward()
with torch.no_grad():
    w -= 0.1 * w.grad
print(w)
