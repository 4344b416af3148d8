import engine as torch

x = torch.tensor(3.0, requires_grad=True)
for _ in range(2):
    y = x * x
    y.backward()
print(x.grad)
