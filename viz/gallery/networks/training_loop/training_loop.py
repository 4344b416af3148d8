import engine as torch

nn = torch.nn

x = torch.tensor([[1.], [2.], [3.]])
target = torch.tensor([[3.], [5.], [7.]])

model = nn.Linear(1, 1)
model.weight = nn.Parameter(torch.zeros(1, 1))
model.bias = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD(
    model.parameters(), lr=0.1)
measure = nn.MSELoss()

for step in range(3):
    optimizer.zero_grad()
    guess = model(x)
    loss = measure(guess, target)
    loss.backward()
    optimizer.step()
    print(loss)
