import engine as torch

a = torch.tensor([[1., 2, 3], [4, 5, 6]], requires_grad=True)

for i in range(2):
    for j in range(3):
        out = a[i, j] * a[i, j]
        out.backward()

print(a.grad)
