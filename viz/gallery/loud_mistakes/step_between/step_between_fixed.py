import engine as torch

w = torch.tensor([1., 2], requires_grad=True)
first = (w * w).sum()
second = (w ** 3).sum()

first.backward(retain_graph=True)
second.backward()
with torch.no_grad():
    w -= 0.1 * w.grad
print(w.grad)
print(w)
