import engine as torch


class FirstTwo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return 5 * a[:2]

    @staticmethod
    def backward(ctx, grad):
        return 5 * grad


x = torch.tensor([1., 2, 3], requires_grad=True)
y = FirstTwo.apply(x)
y.sum().backward()
