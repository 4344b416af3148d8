import engine as torch

x = torch.tensor([0., 1, 2], requires_grad=True)
y = torch.exp(x)
y *= 2
total = y.sum()
total.backward()
