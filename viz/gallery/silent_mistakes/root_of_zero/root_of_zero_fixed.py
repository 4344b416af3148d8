import engine as torch

x = torch.tensor([0., 0], requires_grad=True)
length = x.norm()
print(length)
length.backward()
print(x.grad)
