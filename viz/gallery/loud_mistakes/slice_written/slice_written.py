import engine as torch

x = torch.tensor(0.5, requires_grad=True)
b = torch.zeros(3)
b[0] = x
for i in (1, 2):
    b[i] = torch.sin(b[i - 1])
b[2].backward()
