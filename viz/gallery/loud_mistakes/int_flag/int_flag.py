import engine as torch

x = torch.tensor([1, 2, 3])
y = x * x
x.requires_grad_()
