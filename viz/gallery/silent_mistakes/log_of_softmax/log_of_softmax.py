import engine as torch

scores = torch.tensor([[0., 10, 200]], requires_grad=True)
p = torch.softmax(scores, dim=1)
log_p = torch.log(p)
loss = -log_p.mean()
loss.backward()
print(loss)
print(scores.grad)
