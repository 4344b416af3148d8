import engine as torch

x = torch.tensor(
    [[1., 2.], [0., 1.], [2., -1.]])
target = torch.tensor([3., 1., 1.])
w = torch.tensor([0.5, 2.], requires_grad=True)

fit = (x @ w - target).square().mean()
small = w.square().sum()
sparse = w.abs().sum()

loss = fit + 0.1 * small + 0.5 * sparse
loss.backward()
print(w.grad)
