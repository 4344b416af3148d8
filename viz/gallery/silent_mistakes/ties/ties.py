import engine as torch

x = torch.tensor([3., 1, 3], requires_grad=True)
largest = x.max()
largest.backward()
print(x.grad)
