import engine as torch

scores = torch.tensor([[2., 1], [0, 3]], requires_grad=True)
target = torch.tensor([0, 0])

log_p = torch.log_softmax(scores, dim=1)
loss = -log_p.gather(1, target.view(2, 1)).mean()
print(loss)
loss.backward()
print(scores.grad)
