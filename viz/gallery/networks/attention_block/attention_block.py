import math

import engine as torch

tokens = torch.tensor(
    [[1., 0.], [0., 1.], [1., 1.]],
    requires_grad=True)
Q = torch.tensor(
    [[2., 0.], [0., 1.]], requires_grad=True)
K = torch.tensor(
    [[1., 0.], [1., 1.]], requires_grad=True)
V = torch.tensor(
    [[1., -1.], [0., 2.]], requires_grad=True)
later = torch.tensor(
    [[False, True, True],
     [False, False, True],
     [False, False, False]])

q = tokens @ Q
k = tokens @ K
v = tokens @ V
scores = q @ k.T / math.sqrt(2)
allowed = scores.masked_fill(later, -math.inf)
attention = allowed.softmax(dim=-1)
out = tokens + attention @ v

loss = out[1].sum()
loss.backward()
print(attention)
print(tokens.grad)
