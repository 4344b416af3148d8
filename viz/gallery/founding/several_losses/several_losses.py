import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)
l1 = (x * x).sum()
l2 = (3 * x).sum()
l3 = torch.exp(x).sum()

loss = torch.stack([l1, l2, l3])
weights = torch.tensor([-0.1, 1.0, 0.0001])
loss.backward(weights, retain_graph=True)
print(x.grad)

(g1,) = torch.autograd.grad(l1, x)
(g2,) = torch.autograd.grad(l2, x)
(g3,) = torch.autograd.grad(l3, x)
print(-0.1 * g1 + 1.0 * g2 + 0.0001 * g3)
