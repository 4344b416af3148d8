"""What torch 2.13 says of backward calls, hooks and custom Functions."""

from __future__ import annotations

ROWS: list[tuple[str, str, tuple[str, ...]]] = [
    (
        "second backward",
        """
y = (x * x).sum()
y.backward()
y.backward()
""",
        (
            "RuntimeError: Trying to backward through the graph a second time (or directly access saved "
            "tensors after they have already been freed).",
        ),
    ),
    (
        "second backward of a part",
        """
y = x.exp()
y.sum().backward()
(y * 2).sum().backward()
""",
        (
            "RuntimeError: Trying to backward through the graph a second time (or directly access saved "
            "tensors after they have already been freed).",
        ),
    ),
    (
        "saved tensors after they were freed",
        """
y = x * x
y.sum().backward()
y.grad_fn._saved_self
""",
        (
            "RuntimeError: Trying to backward through the graph a second time (or directly access saved "
            "tensors after they have already been freed).",
        ),
    ),
    (
        "no gradient for a vector",
        "(x * 2).backward()",
        ("RuntimeError: grad can be implicitly created only for scalar outputs",),
    ),
    (
        "gradient of another shape",
        "(x * 2).backward(torch.ones(2))",
        (
            "RuntimeError: Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] "
            "has a shape of torch.Size([3]).",
        ),
    ),
    (
        "wrong count of gradients",
        """
y = x * 2
torch.autograd.backward([y, y], [torch.ones(3)])
""",
        ("RuntimeError: got 2 tensors and 1 gradients",),
    ),
    (
        "nothing to differentiate",
        "x.detach().sum().backward()",
        ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",),
    ),
    (
        "nothing to differentiate, no_grad",
        """
with torch.no_grad():
    y = (x * 2).sum()
y.backward()
""",
        ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",),
    ),
    (
        "nothing to differentiate, argmax",
        "x.argmax().backward()",
        ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",),
    ),
    (
        "nothing to differentiate, second order",
        """
(g,) = torch.autograd.grad((x * x).sum(), x)
g.sum().backward()
""",
        ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",),
    ),
    (
        "a number has no backward",
        "x.sum().item().backward()",
        ("AttributeError: 'float' object has no attribute 'backward'",),
    ),
    (
        "gradient of no leaf",
        """
y = x * 2
y.sum().backward()
r = y.grad
""",
        ("UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed.",),
    ),
    (
        "input not used",
        """
w = torch.ones(1, requires_grad=True)
torch.autograd.grad(x.sum(), [w])
""",
        ("RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph.",),
    ),
    (
        "input without grad",
        "torch.autograd.grad(x.sum(), [torch.ones(1)])",
        ("RuntimeError: One of the differentiated Tensors does not require grad",),
    ),
    (
        "create_graph",
        """
(x * x).sum().backward(create_graph=True)
x.grad = None
""",
        (
            "UserWarning: Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak.",
        ),
    ),
    (
        "nan in backward",
        """
with torch.autograd.detect_anomaly():
    y = torch.sqrt(x * 0) * 0
    y.sum().backward()
""",
        (
            "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.",
            "UserWarning: Anomaly Detection has been enabled.",
            "UserWarning: Error detected in SqrtBackward0.",
        ),
    ),
    (
        "nan without forward",
        """
y = torch.sqrt(x * 0) * 0
with torch.autograd.detect_anomaly():
    y.sum().backward()
""",
        (
            "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.",
            "UserWarning: Anomaly Detection has been enabled.",
            "UserWarning: Error detected in SqrtBackward0.",
        ),
    ),
    (
        "function, too few gradients",
        """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a)
        return a * b
    @staticmethod
    def backward(ctx, g):
        return g
F.apply(x, x).sum().backward()
""",
        ("RuntimeError: function FBackward returned an incorrect number of gradients (expected 2, got 1)",),
    ),
    (
        "function, gradient of another shape",
        """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a)
        return a * b
    @staticmethod
    def backward(ctx, g):
        return g[:2], g
F.apply(x, x).sum().backward()
""",
        (
            "RuntimeError: Function FBackward returned an invalid gradient at index 0 - got [2] but "
            "expected shape compatible with [3]",
        ),
    ),
    (
        "function without backward",
        """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
F.apply(x).sum().backward()
""",
        (
            "NotImplementedError: You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD.",
        ),
    ),
    (
        "once differentiable",
        """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2
(g,) = torch.autograd.grad(F.apply(x), x, x * 1, create_graph=True)
g.sum().backward()
""",
        ("RuntimeError: trying to differentiate twice a function that was marked with @once_differentiable",),
    ),
    (
        "gradcheck",
        """
torch.autograd.gradcheck(lambda t: t * t.detach(), torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True))
""",
        ("GradcheckError: Jacobian mismatch for output 0 with respect to input 0,",),
    ),
    (
        "gradcheck, float32",
        "torch.autograd.gradcheck(lambda t: t * 2, x, raise_exception=False)",
        ("UserWarning: Input #0 requires gradient and is not a double precision floating point or complex.",),
    ),
    (
        "gradcheck, no grad",
        "torch.autograd.gradcheck(lambda t: t * 2, torch.ones(1))",
        (
            "ValueError: gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True.",
        ),
    ),
    (
        "no inputs",
        "x.sum().backward(inputs=[])",
        ("RuntimeError: `inputs` argument to `backward()` cannot be empty.",),
    ),
    (
        "retain_grad without grad",
        "torch.ones(1).retain_grad()",
        ("RuntimeError: can't retain_grad on Tensor that has requires_grad=False",),
    ),
    (
        "hook without grad",
        "torch.ones(1).register_hook(print)",
        ("RuntimeError: cannot register a hook on a tensor that doesn't require gradient",),
    ),
    (
        "loss of another shape",
        "r = torch.nn.functional.mse_loss(x.view(3, 1), torch.ones(3)).item()",
        (
            "UserWarning: Using a target size (torch.Size([3])) that is different to the input size "
            "(torch.Size([3, 1])).",
        ),
    ),
]
"""Name, program on a leaf `x` of three elements, first sentences of what it is told."""
