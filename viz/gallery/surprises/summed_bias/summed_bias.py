import engine as torch

x = torch.tensor([[0., 1], [2, 0], [1, 1]])
bias = torch.tensor([10., 20], requires_grad=True)
y = x + bias

y.backward(torch.tensor([[1., 2], [3, 4], [5, 6]]))
print(bias.grad)

bias.grad.zero_()
y.backward(torch.tensor([[1., 2], [0, 0], [0, 0]]))
y.backward(torch.tensor([[0., 0], [3, 4], [0, 0]]))
y.backward(torch.tensor([[0., 0], [0, 0], [5, 6]]))
print(bias.grad)
