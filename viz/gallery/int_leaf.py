import engine as torch

scale = torch.tensor([1., 10, 100])
x = torch.tensor([1, 2, 3], requires_grad=True)
loss = (scale * x * x).sum()
loss.backward()
