import engine as torch

x = torch.tensor([[3.0]], requires_grad=True)
y = 2 * x
z = y ** 3

z.backward(torch.tensor([[1.0]]), retain_graph=True)
print(x.grad)

x.grad.zero_()
z.backward(torch.tensor([[0.1]]))
print(x.grad)
