import engine as torch

image = torch.tensor([[[[0., 0., 1., 1.],
                        [0., 0., 1., 1.],
                        [0., 1., 1., 0.],
                        [1., 1., 0., 0.]]]])
kernel = torch.tensor([[[[-1., 0., 1.],
                         [-1., 0., 1.],
                         [-1., 0., 1.]]]], requires_grad=True)

edges = torch.nn.functional.conv2d(image, kernel, padding=1)
edges.retain_grad()
strongest = torch.nn.functional.max_pool2d(edges, 2)
score = strongest.mean()
score.backward()
print(edges.grad)
print(kernel.grad)
