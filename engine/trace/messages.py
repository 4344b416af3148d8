"""The message of an error or warning, and its kind: the only place that reads the messages in a trace.  Pure.

A trace has messages word for word, so that they can be shown; the app decides by their kinds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .events import ErrorRaised, WarningGiven

ErrorKind = Literal[
    "second-backward",  # backward through a graph whose saved values were freed
    "not-scalar",  # backward from several elements without a gradient
    "seed-shape",  # a seed gradient of another shape than its root
    "seed-count",  # another number of seed gradients than of roots
    "no-history",  # backward from what does not require a gradient
    "constant-input",  # the gradient of a tensor that does not require one
    "unused-input",  # the gradient of a tensor that the root does not depend on
    "no-inputs",  # an empty `inputs=`
    "saved-changed",  # a saved tensor was written in place
    "leaf-changed",  # a leaf that requires a gradient is written in place
    "leaf-view-changed",  # the same through a view of it
    "several-views",  # one of several views that an op made is written in place
    "unrecorded-view",  # a view that was made under no_grad is written in place
    "inference-tensor",  # a tensor of inference_mode is saved for backward
    "integer-leaf",  # integers are to require a gradient
    "numpy-of-grad",  # numpy() of a tensor that requires a gradient
    "flag-of-inner",  # requires_grad of a computed tensor is switched
    "size-of-grad",  # `.grad` is set to another shape
    "retain-constant",  # retain_grad() of a tensor that does not require a gradient
    "nan-found",  # anomaly mode found a nan
    "jacobian-mismatch",  # gradcheck found a difference
    "gradient-count",  # backward of a Function returns another number of gradients than forward has inputs
    "gradient-shape",  # backward of a Function returns a gradient of another shape than its input
    "no-backward",  # a Function without a backward
    "once-differentiable",  # the derivative of a backward that is marked as having none
    "no-derivative",  # an op that PyTorch has no derivative for
    "number-backward",  # backward() of a Python number
    "matrix-shapes",  # matrices whose shapes do not fit are multiplied
    "sizes",  # shapes that do not broadcast
    "dtypes",  # tensors of different element types
    "devices",  # tensors on different devices
    "target-size",  # a loss of an input and a target of different shapes
    "batch-sizes",  # another number of rows of scores than of targets
    "class-range",  # a target that is not the number of a class
    "class-dimension",  # the classes are in another dimension of the scores than the loss expects
    "class-columns",  # targets that name classes and have more than one dimension
    "soft-target",  # probabilities of classes that are integers
    "probability-range",  # a binary cross entropy of numbers that are no probabilities
    "channels",  # a convolution of another number of channels
    "features",  # a layer of another number of features
    "one-per-channel",  # batch normalisation of a single number
    "index-range",  # an embedding of an index that has no row
    "view-size",  # a view of another number of elements
    "view-strides",  # a view of memory that is not in the order of the elements
    "index-bounds",  # an index that is not below the size
    "list-sizes",  # tensors of different sizes are joined
    "batched-matrices",  # batches of matrices whose shapes do not fit are multiplied
    "subscript-sizes",  # a letter of an einsum stands for two sizes
    "number-of-many",  # a Python number of several elements
    "truth-of-many",  # a condition of several elements
    "no-kernel",  # an op that PyTorch does not have for an element type
    "mean-of-integers",  # a mean of integers
    "no-parameters",  # an optimiser of no parameters
    "nothing-to-clip",  # clip_grad_value_() of parameters without gradients
    "before-init",  # a module gets a layer before its own __init__
    "none-used",  # None has no such attribute or cannot be called
    "syntax",  # the file is not Python
    "no-module",  # a module that is not installed
    "no-file",  # a file that is not there
    "no-input",  # input() at the end of the standard input
    "interrupted",  # Ctrl-C
    "other",
]
WarningKind = Literal[
    "grad-of-inner",  # `.grad` of a tensor that is not a leaf is read
    "graph-in-grad",  # backward(create_graph=True)
    "expanded-write",  # a place of an expanded tensor may be written more than once
    "target-shape",  # the input of a loss and its target have different shapes
    "other",
]


@dataclass(frozen=True, slots=True)
class Message:
    """The kind of an error, and the parts of its message that its explanation needs, by name."""

    kind: ErrorKind
    parts: Mapping[str, str] = field(default_factory=dict)


_ERRORS: tuple[tuple[ErrorKind, str], ...] = (
    ("second-backward", r"Trying to backward through the graph a second time"),
    ("not-scalar", r"grad can be implicitly created only for scalar outputs"),
    ("seed-shape", r"Mismatch in shape: grad_output(?:\[(?P<index>\d+)\])?"),
    ("seed-count", r"got (?P<roots>\d+) tensors and (?P<gradients>\d+) gradients"),
    ("no-history", r"(?:element (?P<index>\d+) of tensors )?does not require grad and does not have a grad_fn"),
    ("constant-input", r"One of the differentiated Tensors does not require grad"),
    ("unused-input", r"(?:at index (?P<index>\d+) )?appears to not have been used in the graph"),
    ("no-inputs", r"`inputs` argument to `backward\(\)` cannot be empty"),
    ("saved-changed", r"modified by an inplace operation"),
    ("leaf-view-changed", r"a view of a leaf Variable that requires grad"),
    ("leaf-changed", r"a leaf Variable that requires grad"),
    ("several-views", r"function that returns multiple views"),
    ("unrecorded-view", r"Given that this use case is ambiguous and error-prone"),
    ("inference-tensor", r"Inference tensors cannot be saved for backward"),
    ("integer-leaf", r"can require gradients"),
    ("numpy-of-grad", r"Can't call numpy\(\) on Tensor that requires grad"),
    ("flag-of-inner", r"you can only change requires_grad flags of leaf variables"),
    ("size-of-grad", r"attempting to assign a gradient of size"),
    ("retain-constant", r"can't retain_grad on Tensor"),
    ("nan-found", r"returned nan values in its"),
    ("jacobian-mismatch", r"Jacobian mismatch for output"),
    ("gradient-count", r"an incorrect number of gradients \(expected (?P<expected>\d+), got (?P<returned>\d+)\)"),
    (
        "gradient-shape",
        r"returned an invalid gradient at index (?P<index>\d+) - got (?P<returned>\[.*?\]) "
        r"but expected shape compatible with (?P<expected>\[.*?\])",
    ),
    ("no-backward", r"must implement either the backward"),
    ("once-differentiable", r"marked with @once_differentiable"),
    ("no-derivative", r"derivative for aten::(?P<op>\w+)"),
    ("number-backward", r"'float' object has no attribute 'backward'"),
    ("matrix-shapes", r"shapes cannot be multiplied \((?P<first>\d+x\d+) and (?P<second>\d+x\d+)\)"),
    (
        "sizes",
        r"The size of tensor a \((?P<first>\d+)\) must match the size of tensor b \((?P<second>\d+)\) "
        r"at non-singleton dimension (?P<dim>\d+)",
    ),
    (
        "devices",
        r"Expected all tensors to be on the same device|is not on the expected device"
        r"|Input type \(torch\.cuda\.\w+\) and \w+ type \(torch\.\w+\)"
        r"|Input type \(torch\.\w+\) and \w+ type \(torch\.cuda\.\w+\)",
    ),
    (
        "dtypes",
        r"must have the same dtype|to have the same dtype|Input type \(.+\) and \w+ type \(.+\) should be the same"
        r"|expected (?:scalar type|target dtype to be) (?P<wanted>\w+)(?: or Byte, but got| but found) \w+"
        r"|Found dtype \w+ but expected \w+",
    ),
    (
        "target-size",
        r"Target size \((?P<target>.+?)\) must be the same as input size \((?P<input>.+?\))\)"
        r"|Using a target size \((?P<target_>.+?\))\) that is different to the input size \((?P<input_>.+?\))\)",
    ),
    ("batch-sizes", r"Expected input batch_size \((?P<input>\d+)\) to match target batch_size \((?P<target>\d+)\)"),
    ("class-range", r"Target (?P<index>-?\d+) is out of bounds"),
    ("class-dimension", r"Expected target size (?P<wanted>\[.*?\]), got (?P<given>\[.*?\])"),
    ("class-columns", r"0D or 1D target tensor expected"),
    ("soft-target", r"Expected floating point type for target with class probabilities"),
    ("probability-range", r"all elements of (?P<which>input|target) should be between 0 and 1"),
    (
        "channels",
        r"weight of size (?P<weight>\[.*?\]), expected input(?P<input>\[.*?\]) to have (?P<wanted>\d+) channels, "
        r"but got (?P<found>\d+) channels",
    ),
    (
        "features",
        r"input\.size\(-1\) must be equal to input_size\. Expected (?P<wanted>\d+), got (?P<found>\d+)"
        r"|was expecting embedding dimension of (?P<wanted_>\d+), but got (?P<found_>\d+)"
        r"|expected input with shape \[\*, (?P<wanted__>[\d, ]+)\], but got input of size(?P<found__>\[.*?\])",
    ),
    ("one-per-channel", r"Expected more than 1 value per channel when training, got input size (?P<input>.+)"),
    ("index-range", r"index out of range in self"),
    ("view-size", r"shape '(?P<shape>\[.*?\])' is invalid for input of size (?P<size>\d+)"),
    ("view-strides", r"view size is not compatible with input tensor's size and stride"),
    (
        "index-bounds",
        r"index (?P<index>-?\d+) is out of bounds for dimension (?P<dim>\d+) with size (?P<size>\d+)"
        r"|INDICES element is out of DATA bounds, id=(?P<index_>-?\d+) axis_dim=(?P<size_>\d+)",
    ),
    (
        "list-sizes",
        r"Sizes of tensors must match except in dimension (?P<dim>\d+)\. Expected size (?P<first>\d+) but got size "
        r"(?P<other>\d+) for tensor number (?P<number>\d+) in the list|stack expects each tensor to be equal size",
    ),
    (
        "batched-matrices",
        r"Expected size for first two dimensions of batch2 tensor to be: (?P<wanted>\[.*?\]) "
        r"but got: (?P<given>\[.*?\])",
    ),
    (
        "subscript-sizes",
        r"subscript (?P<letter>\w) has size (?P<size>\d+) for operand (?P<operand>\d+) which does not broadcast with "
        r"previously seen size (?P<before>\d+)",
    ),
    (
        "number-of-many",
        r"a Tensor with (?P<size>\d+) elements cannot be converted to Scalar"
        r"|only one element tensors can be converted to Python scalars",
    ),
    ("truth-of-many", r"Boolean value of Tensor with more than one value is ambiguous"),
    ("no-kernel", r"\"(?P<kernel>\w+)\" not implemented for '(?P<dtype>\w+)'"),
    ("mean-of-integers", r"mean\(\): could not infer output dtype"),
    ("no-parameters", r"optimizer got an empty parameter list"),
    ("nothing-to-clip", r"Expected !nested_tensorlist\[0\]\.empty\(\) to be true"),
    ("before-init", r"cannot assign (?:module|parameters) before Module\.__init__\(\) call"),
    ("none-used", r"'NoneType'"),
    ("syntax", r"^(SyntaxError|IndentationError|TabError):"),
    ("no-module", r"^ModuleNotFoundError: No module named '?(?P<name>\w+)"),
    ("no-file", r"^FileNotFoundError:"),
    ("no-input", r"^EOFError: EOF when reading a line"),
    ("interrupted", r"^KeyboardInterrupt:"),
)
"""A pattern for the line that a terminal shows, `type: message`; the first match counts."""
_WARNINGS: tuple[tuple[WarningKind, str], ...] = (
    ("grad-of-inner", r"^The \.grad attribute of a Tensor that is not a leaf Tensor is being accessed"),
    ("graph-in-grad", r"^Using backward\(\) with create_graph=True will create a reference cycle"),
    ("expanded-write", r"^Use of \w+_ on expanded tensors is deprecated"),
    ("target-shape", r"^Using a target size \(.+?\) that is different to the input size"),
)


def read_error(event: ErrorRaised) -> Message:
    """The kind of an error, with the parts of its message.

    >>> read_error(ErrorRaised(0, -1, "RuntimeError", "got 2 tensors and 1 gradients", "", None, None, (), "")).parts
    {'roots': '2', 'gradients': '1'}
    """
    line = f"{event.type}: {event.message}"
    for kind, pattern in _ERRORS:
        if match := re.search(pattern, line):
            # An alternative marks its names with a `_`: a pattern has each name once.
            parts = {name.rstrip("_"): part for name, part in match.groupdict().items() if part is not None}
            return Message(kind, parts)
    return Message("other")


def gradients_passed(error: ErrorRaised | None) -> int | None:
    """The number of seed gradients in a call that was refused because it has another number of roots."""
    message = read_error(error) if error is not None else None
    return int(message.parts["gradients"]) if message is not None and message.kind == "seed-count" else None


def warning_kind(event: WarningGiven) -> WarningKind:
    """The kind of a warning."""
    return next((kind for kind, pattern in _WARNINGS if re.search(pattern, event.message)), "other")


# -- the message of an exception --------------------------------------------------------------------------------------


def message_of(error: BaseException) -> str:
    """`str(error)`; where the user's own `__str__` raises, what Python prints in its place.

    >>> class Odd(Exception):
    ...     def __str__(self): raise ValueError
    >>> message_of(Odd())
    '<exception str() failed>'
    """
    try:
        return str(error)
    except Exception:  # noqa: BLE001 code of the user's, of which anything may come
        return "<exception str() failed>"


_PLACE = re.compile(r'File "([^"]*)", line (\d+)')


def places_of(error: ErrorRaised) -> list[tuple[str, int]]:
    """The files and lines of an error's traceback, outermost first."""
    return [(file, int(line)) for file, line in _PLACE.findall(error.traceback)]


def notes_of(error: BaseException) -> str:
    """The notes of an exception (PEP 678), one below the other; of those that are no texts, their repr."""
    try:
        notes = getattr(error, "__notes__", None)
    except Exception:  # noqa: BLE001 a property of the user's
        return ""
    if not isinstance(notes, (list, tuple)):
        return ""
    return "\n".join(note if isinstance(note, str) else object.__repr__(note) for note in notes)
