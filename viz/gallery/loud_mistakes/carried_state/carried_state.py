import engine as torch

w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(1.0)
for x in (1.0, -0.5):
    h = torch.tanh(w * h + x)
    h.backward()
