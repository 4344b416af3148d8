import engine as torch

x = torch.tensor(0.5, requires_grad=True)
b = [x]
for i in (1, 2):
    b.append(torch.sin(b[i - 1]))
b[2].backward()
print(x.grad)
