import math

import engine as torch

U = torch.tensor([[1.2, 0.5], [-0.5, 1.2]], requires_grad=True)

h = torch.tensor([[0.01, 0.02]])
states = []
for t in range(12):
    h = h @ U
    h.retain_grad()
    states.append(h)

loss = h.sum()
loss.backward()

for t, h in enumerate(states):
    norm = math.hypot(*h.grad.tolist()[0])
    print(f"dL/dh{t}: {norm:.3f}")
print(U.grad)
