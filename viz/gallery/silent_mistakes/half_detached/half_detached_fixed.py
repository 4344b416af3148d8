import engine as torch

x = torch.tensor([1., 2, 3], requires_grad=True)
total = (x * x).sum()
total.backward()
print(x.grad)
