import engine as torch

F = torch.nn.functional

image = torch.tensor([[[
    [0., 0., 1., 1.],
    [0., 0., 1., 1.],
    [0., 1., 1., 0.],
    [1., 1., 0., 0.]]]])
kernel = torch.tensor([[[
    [-1., 0., 1.],
    [-1., 0., 1.],
    [-1., 0., 1.]]]], requires_grad=True)

edges = F.conv2d(image, kernel, padding=1)
edges.retain_grad()
strongest = F.max_pool2d(edges, 2)
score = strongest.sum()
score.backward()
print(edges.grad)
print(kernel.grad)
