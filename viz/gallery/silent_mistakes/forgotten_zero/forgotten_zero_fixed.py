import engine as torch

w = torch.tensor(1.0, requires_grad=True)
for step in range(3):
    loss = (w - 3) ** 2
    loss.backward()
    print(w.grad)
    with torch.no_grad():
        w -= 0.25 * w.grad
    w.grad = None
print(w)
