import engine as torch

w = torch.tensor(2.0, requires_grad=True)
total = 0.0
for x in (1.0, 3.0):
    loss = (w * x - 1) ** 2
    total += loss.item()
print(total)
total.backward()
