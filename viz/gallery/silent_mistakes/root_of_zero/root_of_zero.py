import engine as torch

x = torch.tensor([0., 0], requires_grad=True)
length = (x * x).sum().sqrt()
print(length)
length.backward()
print(x.grad)
