import engine as torch

nn = torch.nn

petals = torch.tensor(
    [[4.7, 1.4], [4.5, 1.5], [4.9, 1.5],
     [6.0, 2.5], [5.1, 1.9], [5.9, 2.1]])
virginica = torch.tensor([0, 0, 0, 1, 1, 1])

net = nn.Sequential(
    nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
net[0].weight = nn.Parameter(
    torch.tensor([[1., 1.], [-1., 1.]]))
net[0].bias = nn.Parameter(
    torch.tensor([-6.5, 2.]))
net[2].weight = nn.Parameter(
    torch.tensor([[-1., 1.], [1., -1.]]))
net[2].bias = nn.Parameter(
    torch.tensor([0.5, -0.5]))
optimizer = torch.optim.SGD(
    net.parameters(), lr=0.5)
measure = nn.CrossEntropyLoss()

scores = net(petals)
scores.retain_grad()
loss = measure(scores, virginica)
loss.backward()
optimizer.step()
print(loss)
