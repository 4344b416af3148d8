import engine as torch

t = torch.FloatTensor([1, 2, 3])
x = torch.autograd.Variable(t, requires_grad=True)
print(type(x) is torch.Tensor, x)
print(x.is_leaf, x.grad_fn)

y = 2 * x
print(y.is_leaf, y)

z = (y * y).mean()
print(z.is_leaf, z)

z.backward()
print(x.grad)

raw = x.data
print(raw.requires_grad, raw)

torch.manual_seed(0)
noise = torch.randn(2, 3)
sample = 2 * noise
print(sample.shape, sample.is_leaf)
