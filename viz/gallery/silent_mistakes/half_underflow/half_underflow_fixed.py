import engine as torch

w = torch.tensor(
    [1024.], dtype=torch.float16,
    requires_grad=True)
small = w / 8192
loss = small / 8192
(4096 * loss).backward()
print(loss, w.grad.float() / 4096)
