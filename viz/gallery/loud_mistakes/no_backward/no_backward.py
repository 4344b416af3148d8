import engine as torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return 2 * a


x = torch.tensor([1., 2, 3], requires_grad=True)
y = Double.apply(x)
y.sum().backward()
