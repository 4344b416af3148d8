import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)

whole = (x * x).sum()
whole.backward()
print(x.grad)

x.grad = None
half = (x * x.detach()).sum()
half.backward()
print(x.grad)
