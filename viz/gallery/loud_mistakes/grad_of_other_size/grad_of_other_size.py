import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)
x.grad = torch.zeros(2)
(x * x).sum().backward()
