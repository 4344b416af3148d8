import engine as torch

autograd = torch.autograd

x = torch.tensor([0., 0], requires_grad=True)
with autograd.set_detect_anomaly(True):
    length = ((x * x).sum() + 1e-12).sqrt()
    length.backward()
print(x.grad)
