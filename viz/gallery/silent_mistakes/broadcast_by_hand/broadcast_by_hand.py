import engine as torch

x = torch.tensor([[1.], [2], [3]])
target = torch.tensor([2., 4, 6])
w = torch.tensor([[2.]], requires_grad=True)
error = x @ w - target
loss = (error * error).mean()
loss.backward()
print(loss, w.grad)
