import engine as torch

double = torch.float64
x = torch.tensor([1., 2], dtype=double, requires_grad=True)
same = torch.autograd.gradcheck(
    torch.exp, x, raise_exception=False)
print(same)
