import engine as torch

w = torch.tensor(1.0, requires_grad=True)
for step in range(3):
    loss = (w - 3) ** 2
    loss.backward()
    print("forgotten", w.grad)
    with torch.no_grad():
        w -= 0.25 * w.grad

w = torch.tensor(1.0, requires_grad=True)
for step in range(3):
    loss = (w - 3) ** 2
    loss.backward()
    print("zeroed", w.grad)
    with torch.no_grad():
        w -= 0.25 * w.grad
    w.grad.zero_()
