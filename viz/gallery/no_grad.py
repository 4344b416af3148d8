import engine as torch

w = torch.tensor([1., -2], requires_grad=True)
x = torch.tensor([3., 4])

loss = (w * x).sum()
loss.backward()
print(w.grad, loss.requires_grad)

with torch.no_grad():
    w -= 0.1 * w.grad
    loss = (w * x).sum()
print(loss, loss.requires_grad)

loss.backward()
