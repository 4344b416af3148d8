import engine as torch

w = torch.tensor([[0.5], [-1.0]], requires_grad=True)
batches = [
    (torch.tensor([[1., 2], [3, 1]]), torch.tensor([[1.], [0]])),
    (torch.tensor([[0., 1], [2, 2]]), torch.tensor([[2.], [1]])),
    (torch.tensor([[4., 0], [1, 3]]), torch.tensor([[0.], [3]])),
]


def squared_error(inputs, targets):
    error = inputs @ w - targets
    return (error * error).sum()


for inputs, targets in batches:
    loss = squared_error(inputs, targets)
    loss.backward()
    print(w.grad)

total = sum(squared_error(*batch) for batch in batches)
(whole,) = torch.autograd.grad(total, w)
print(whole)

with torch.no_grad():
    w -= 0.01 * w.grad
w.grad.zero_()
print(w)
