import engine as torch

a = torch.tensor([1., 2, 3], requires_grad=True)
b = torch.tensor([3., 4, 5], requires_grad=True)
c = torch.tensor([6., 7, 8], requires_grad=True)

y = 3 * a + 2 * b * b + torch.log(c)

weights = torch.tensor([0.1, 1.0, 0.0001])
y.backward(weights)

print(a.grad)
print(b.grad)
print(c.grad)
