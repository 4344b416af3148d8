import math

import engine as torch

inputs = torch.tensor([[0.9, -0.4], [0.1, 0.3],
                       [-0.5, 0.2], [0.4, 0.4],
                       [-0.2, -0.6], [0.3, 0.1],
                       [0.7, -0.3], [-0.1, 0.5]])
U = torch.tensor([[0.5, 0.3], [-0.3, 0.5]],
                 requires_grad=True)

h = torch.zeros(1, 2)
states = []
for x in inputs.view(8, 1, 2):
    h = torch.tanh(h @ U + x)
    h.retain_grad()
    states.append(h)

loss = h.sum()
loss.backward()

for t, h in enumerate(states):
    norm = math.hypot(*h.grad.tolist()[0])
    print(f"dL/dh{t}: {norm:.5f}")
print(U.grad)
