import engine as torch

double = torch.float64
x = torch.tensor([1., 2], dtype=double, requires_grad=True)


def square(v):
    return v * v


print(torch.autograd.gradcheck(square, x))
