import engine as torch

x = torch.tensor([3., 1, 3], requires_grad=True)

x.max().backward()
print(x.grad)

x.grad = None
largest, position = x.max(dim=0)
largest.backward()
print(x.grad)

zero = torch.zeros(1, requires_grad=True)
for function in (torch.abs, torch.relu):
    y = function(zero)
    y.backward()
    print(zero.grad)

y = zero.clamp(min=0)
y.backward()
print(zero.grad)
