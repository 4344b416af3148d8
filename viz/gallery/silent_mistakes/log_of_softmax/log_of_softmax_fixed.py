import engine as torch

scores = torch.tensor([[0., 10, 200]], requires_grad=True)
log_p = torch.log_softmax(scores, dim=1)
loss = -log_p.mean()
loss.backward()
print(loss)
print(scores.grad)
