"""What a user is told: each error and warning in torch's words, held beside torch and, where that is not installed, as
stored.  The texts were written by torch 2.13.
"""

from __future__ import annotations

from typing import Any

import pytest

import engine

from .outcomes import first_sentences, outcome, program

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
        "loss of another shape",
        "r = torch.nn.functional.mse_loss(x.view(3, 1), torch.ones(3)).item()",
        (
            "UserWarning: Using a target size (torch.Size([3])) that is different to the input size "
            "(torch.Size([3, 1])).",
        ),
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


@pytest.mark.parametrize(("name", "source", "told"), ROWS, ids=[row[0] for row in ROWS])
def test_message_is_the_stored_one(name: str, source: str, told: tuple[str, ...]) -> None:
    assert first_sentences(outcome(program(source), engine)) == told


@pytest.mark.parity
@pytest.mark.parametrize(("name", "source", "told"), ROWS, ids=[row[0] for row in ROWS])
def test_stored_message_is_torchs(name: str, source: str, told: tuple[str, ...]) -> None:
    torch: Any = pytest.importorskip("torch")
    torch.set_warn_always(True)
    assert first_sentences(outcome(program(source), torch)) == told
