import engine as torch

w = torch.tensor(2.0, requires_grad=True)
x = torch.tensor([1., 2, 3])
total = (w * x).sum()
x.retain_grad()
total.backward()
