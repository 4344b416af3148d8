import engine as torch

x = torch.tensor([1., 2], requires_grad=True)
trunk = torch.exp(x)
height = trunk.sum()
slope = (3 * trunk).sum()

(height + slope).backward()
print(x.grad)
