import engine as torch

x = torch.tensor(1.0, requires_grad=True)
shortcut = 10 * x
inner = torch.exp(x)
outer = torch.sin(inner)

for t in (outer, shortcut, inner):
    t.retain_grad()
(outer + shortcut).backward()
arrived = [outer.grad, shortcut.grad, inner.grad]
names = ("outer", "shortcut", "inner")
for name, grad in zip(names, arrived):
    print(name, grad)
