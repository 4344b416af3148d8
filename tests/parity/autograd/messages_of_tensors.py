"""What torch 2.13 says of tensors: of writes to them, their flags, and what leaves them for Python."""

from __future__ import annotations

ROWS: list[tuple[str, str, tuple[str, ...]]] = [
    (
        "saved result written",
        """
y = x.exp()
y.mul_(2)
y.sum().backward()
""",
        (
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [torch.FloatTensor [3]], which is output 0 of Exp, is at version 1; "
            "expected version 0 instead.",
        ),
    ),
    (
        "saved leaf written",
        """
y = x * x
with torch.no_grad():
    x.add_(1)
y.sum().backward()
""",
        (
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [torch.FloatTensor [3]] is at version 1; expected version 0 instead.",
        ),
    ),
    (
        "another slice written",
        """
y = x * 1
z = y[0] * y[0]
y[1] = 5.0
z.backward()
""",
        (
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [torch.FloatTensor []], which is output 0 of AsStrided, is at version 1; "
            "expected version 0 instead.",
        ),
    ),
    (
        "saved list written",
        """
a, b = x * 1, x * 2
y = torch.stack([a, b]).prod(0)
z = torch.cat([a, b])
w = (a * b).sum()
b.add_(1)
w.backward()
""",
        (
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [torch.FloatTensor [3]], which is output 0 of Add, is at version 1; "
            "expected version 0 instead.",
        ),
    ),
    (
        "saved tensor written, anomaly",
        """
with torch.autograd.detect_anomaly():
    y = x.exp()
    y.mul_(2)
    y.sum().backward()
""",
        (
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [torch.FloatTensor [3]], which is output 0 of Exp, is at version 1; "
            "expected version 0 instead.",
            "UserWarning: Anomaly Detection has been enabled.",
            "UserWarning: Error detected in ExpBackward0.",
        ),
    ),
    (
        "leaf written",
        "x.add_(1)",
        ("RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",),
    ),
    (
        "leaf written by index",
        "x[0] = 1.0",
        ("RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.",),
    ),
    (
        "view of a leaf written",
        "x[:2].add_(1)",
        ("RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.",),
    ),
    (
        "one of several views written",
        "(x * 1).unbind(0)[0].add_(1)",
        ("RuntimeError: Output 0 of Unbind is a view and is being modified inplace.",),
    ),
    (
        "view of no_grad written",
        """
with torch.no_grad():
    v = (x)[:2]
v.mul_(2)
""",
        ("RuntimeError: A view was created in no_grad mode and is being modified inplace with grad mode enabled.",),
    ),
    (
        "view of a view of no_grad, of what requires no grad, written",
        """
with torch.no_grad():
    v = torch.zeros(3)[:2]
v[:1].mul_((x)[:1])
""",
        ("RuntimeError: A view was created in no_grad mode and is being modified inplace with grad mode enabled.",),
    ),
    (
        "integer requires grad",
        "torch.tensor([1, 2], requires_grad=True)",
        ("RuntimeError: Only Tensors of floating point and complex dtype can require gradients",),
    ),
    (
        "integer requires grad, later",
        "torch.tensor([1, 2]).requires_grad_()",
        ("RuntimeError: only Tensors of floating point dtype can require gradients",),
    ),
    (
        "numpy of a leaf",
        "x.numpy()",
        ("RuntimeError: Can't call numpy() on Tensor that requires grad.",),
    ),
    (
        "array of a leaf",
        """
import numpy
numpy.asarray(x)
""",
        ("RuntimeError: Can't call numpy() on Tensor that requires grad.",),
    ),
    (
        "flag of no leaf",
        """
y = x * 2
y.requires_grad = False
""",
        ("RuntimeError: you can only change requires_grad flags of leaf variables.",),
    ),
    (
        "inference tensor saved",
        """
with torch.inference_mode():
    a = torch.ones(3)
x * a
""",
        ("RuntimeError: Inference tensors cannot be saved for backward.",),
    ),
    (
        "inference tensor written",
        """
with torch.inference_mode():
    a = torch.ones(3)
a.add_(1)
""",
        (
            "RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed.You can "
            "make a clone to get a normal tensor before doing inplace update.See "
            "https://github.com/pytorch/rfcs/pull/17 for more details.",
        ),
    ),
    (
        "grad of another size",
        "x.grad = torch.ones(2)",
        ("RuntimeError: attempting to assign a gradient of size '[2]' to a tensor of size '[3]'.",),
    ),
    (
        "grad of another dtype",
        "x.grad = torch.ones(3, dtype=torch.float64)",
        ("RuntimeError: attempting to assign a gradient with dtype 'double' to a tensor with grad_dtype 'Float'.",),
    ),
    (
        "grad that is no tensor",
        "x.grad = 3",
        ("TypeError: assigned grad expected to be a Tensor or None but got grad of type int",),
    ),
    (
        "deepcopy of no leaf",
        """
import copy
copy.deepcopy(x * 2)
""",
        (
            "RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.",
        ),
    ),
    (
        "float of a tensor with grad",
        "r = float(torch.tensor(2.0, requires_grad=True))",
        ("UserWarning: Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.",),
    ),
    (
        "tensor of a tensor",
        "r = torch.tensor(x)",
        (
            "UserWarning: To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), rather "
            "than torch.tensor(sourceTensor).",
        ),
    ),
    (
        "detach_ of a view",
        "(x * 1)[:1].detach_()",
        ("RuntimeError: Can't detach views in-place.",),
    ),
    (
        "expanded, written",
        "(x * 1)[:1].expand(3).add_(1)",
        (
            "RuntimeError: unsupported operation: more than one element of the written-to tensor refers to "
            "a single memory location.",
        ),
    ),
    (
        "data of another kind",
        "x.data = 3",
        ("TypeError: Variable data has to be a tensor, but got int",),
    ),
    (
        "integer data",
        "x.data = torch.tensor([1, 2, 3])",
        ("RuntimeError: data set to a tensor that requires gradients must be floating point or complex dtype",),
    ),
]
"""Name, program on a leaf `x` of three elements, first sentences of what it is told."""
