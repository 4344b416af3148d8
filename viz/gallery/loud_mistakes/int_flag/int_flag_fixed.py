import engine as torch

x = torch.tensor([1, 2, 3]).float()
x.requires_grad_()
y = x * x
y.sum().backward()
print(x.grad)
