"""The arrays under a Tensor: numpy on the processor, cupy on a GPU.  The only file that names cupy.

`xp` is numpy.  Its functions hand cupy arrays on to cupy (NEP 13 and NEP 18), so that one kernel, `xp.exp(self)`,
serves both; what creates an array says where with `like=` or `on(device)`.
"""

from __future__ import annotations

import importlib
import threading
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy
from numpy import ndarray

try:
    import cupy
    import cupyx
    import cupyx.scipy.linalg
    import cupyx.scipy.special
except ImportError:
    cupy = None

xp = numpy

# A kernel may overflow or divide by zero: the result says so (inf, nan) as in torch; numpy's warning would repeat it.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"engine(\.|$)")

Array = Any
"""A numpy or cupy array; as the annotation of a kernel's parameter it marks a tensor input."""
Arrays = Sequence[Any]
"""A list of arrays; as the annotation of a kernel's parameter it marks a list of tensors."""


class dtype:
    """An element type under torch's name.

    Source: torch.dtype.

    >>> import engine as torch
    >>> torch.float32
    torch.float32
    >>> torch.float32.itemsize
    4
    """

    __slots__ = ("is_floating_point", "is_signed", "itemsize", "legacy", "name", "numpy")

    def __init__(self, name: str, numpy_name: str, legacy: str) -> None:
        self.name = name
        self.numpy = xp.dtype(numpy_name)
        self.legacy = legacy
        self.itemsize = self.numpy.itemsize
        self.is_floating_point = self.numpy.kind == "f"
        self.is_signed = self.numpy.kind in "if"

    is_complex = False

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


float16 = half = dtype("float16", "float16", "HalfTensor")
float32 = dtype("float32", "float32", "FloatTensor")
float64 = double = dtype("float64", "float64", "DoubleTensor")
uint8 = dtype("uint8", "uint8", "ByteTensor")
int8 = dtype("int8", "int8", "CharTensor")
int16 = short = dtype("int16", "int16", "ShortTensor")
int32 = dtype("int32", "int32", "IntTensor")
int64 = long = dtype("int64", "int64", "LongTensor")
bool_ = dtype("bool", "bool", "BoolTensor")

DTYPES = (float16, float32, float64, uint8, int8, int16, int32, int64, bool_)
BY_NUMPY = {d.numpy: d for d in DTYPES}
default_dtype = float32


def dtype_of(array: Array) -> dtype:
    """The torch dtype of an array; complex and other kinds are out of scope."""
    try:
        return BY_NUMPY[array.dtype]
    except KeyError:
        if array.dtype.kind not in "cu":
            name = getattr(array.dtype.type, "__name__", str(array.dtype))
            raise TypeError(f"can't convert np.ndarray of type numpy.{name}. {SUPPORTED}") from None
        raise TypeError(
            f"arrays of dtype {array.dtype} are out of scope: real floats, integers and bool are taken"
        ) from None


SUPPORTED = "The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool."


def as_numpy_dtype(which: dtype | type | None) -> xp.dtype | None:
    """The numpy dtype for a torch dtype or one of Python's number types."""
    if which is None:
        return None
    if isinstance(which, dtype):
        return which.numpy
    builtin = {float: float64, int: int64, bool: bool_}  # Python's float has 64 bits, whatever the default dtype
    if which in builtin:
        return builtin[which].numpy
    raise TypeError(f"dtype must be a torch.dtype, found {which!r}; complex and quantised types are out of scope")


OTHER_DEVICES = (
    "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps",
    "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
"""Names of devices that torch knows, and there are none of here."""


def _of_index(index: int) -> str:
    """A number as the name of that GPU.  Raises RuntimeError where there is none."""
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    if not cuda_is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return f"cuda:{index}"


class device:
    """Where an array lives: `cpu` or `cuda`.

    Source: torch.device.

    >>> device("cpu")
    device(type='cpu')
    """

    __slots__ = ("index", "type")

    def __init__(self, kind: str | int | device = "cpu", index: int | None = None) -> None:
        if isinstance(kind, device):
            self.type: str = kind.type
            self.index: int | None = kind.index
            return
        if isinstance(kind, int) and not isinstance(kind, bool):
            kind = _of_index(kind)
        name, _, number = str(kind).partition(":")
        if name not in ("cpu", "cuda"):
            choices = "cpu, cuda" if name in OTHER_DEVICES else ", ".join(("cpu", "cuda", *OTHER_DEVICES))
            raise RuntimeError(f"Expected one of {choices} device type at start of device string: {name}")
        self.type = name
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        place = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{place})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


CPU = device("cpu")


def cuda_count() -> int:
    """How many GPUs cupy finds; 0 where it is not installed.

    Source: torch.accelerator.device_count.

    >>> import engine as torch
    >>> torch.cuda.device_count() >= 0
    True
    """
    if cupy is None:
        return 0
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


def cuda_is_available() -> bool:
    """Return whether cupy is installed and finds a GPU.

    Source: torch.accelerator.is_available.

    >>> import engine as torch
    >>> torch.cuda.is_available() == (torch.cuda.device_count() > 0)
    True
    """
    return cuda_count() > 0


def cuda_name() -> str:
    """The name of the GPU in use."""
    return str(cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode())


def cuda_wait() -> None:
    """Wait until the GPU has done what it was given."""
    cupy.cuda.Device().synchronize()


def device_of(array: Array) -> device:
    """Where an array lives."""
    return CPU if isinstance(array, ndarray) else device("cuda", array.device.id)


class _HostMemory(threading.local):
    """A switch per thread: while `only` is True, every array is in the memory of the host. A replay runs there,
    whatever device the recording ran on."""

    only = False


home = _HostMemory()


def move(array: Array, where: device) -> Array:
    """The array on device `where`; itself if it is there."""
    if where.type == "cpu" or home.only:
        return array if isinstance(array, ndarray) else cupy.asnumpy(array)
    if cupy is None:
        raise AssertionError("Torch not compiled with CUDA enabled")
    if (where.index or 0) >= cupy.cuda.runtime.getDeviceCount():
        raise RuntimeError("CUDA error: invalid device ordinal")
    with cupy.cuda.Device(where.index):
        return cupy.asarray(array)


def on(where: device) -> Any:
    """The context in which cupy allocates on `where`; nothing for the processor."""
    return nullcontext() if where.type == "cpu" else cupy.cuda.Device(where.index)


def as_array(value: Any) -> Array:
    """An array for what a kernel returned: numpy gives scalars where torch gives 0-d tensors."""
    if isinstance(value, ndarray) or (cupy is not None and isinstance(value, cupy.ndarray)):
        return value
    return xp.asarray(value)


def by_rows(result: Array) -> Array:
    """A result laid out by rows, as torch lays out reductions and normalisations also of transposed tensors."""
    return result if result.ndim < 2 or result.flags.c_contiguous else result.copy(order="C")


def zeros_at(place: Array, size: tuple[int, ...]) -> Array:
    """Zeros of a shape, in the dtype and on the device of `place` (which may be a numpy scalar)."""
    if isinstance(place, (ndarray, xp.generic)):
        return xp.zeros(size, dtype=place.dtype)
    return xp.zeros(size, dtype=place.dtype, like=place)


def strided(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """A view of the memory of `array` with other sizes and steps (in bytes)."""
    if cupy is None or isinstance(array, ndarray):
        return xp.lib.stride_tricks.as_strided(array, shape, strides)
    return cupy.lib.stride_tricks.as_strided(array, shape, strides)


def is_writable(data: Array) -> bool:
    """Return whether an array can be written, and no two elements along one dimension share memory."""
    if isinstance(data, ndarray) and not data.flags.writeable:
        return False
    if 0 not in data.strides or not data.size:
        return True
    return not any(n > 1 and not s for n, s in zip(data.shape, data.strides, strict=True))


def takes_writes(data: Array) -> bool:
    """Return whether an array can be written; its elements may share memory."""
    return not isinstance(data, ndarray) or bool(data.flags.writeable)


def expanded(data: Array, size: Sequence[int]) -> Array:
    """A view of a larger size, whose elements share places; a part of it without such elements can be written."""
    out = xp.broadcast_to(data, size)
    if isinstance(out, ndarray) and data.flags.writeable:
        out.flags.writeable = True
    return out


def is_array(value: Any) -> bool:
    """Return whether `value` is a numpy or cupy array."""
    return isinstance(value, ndarray) or (cupy is not None and isinstance(value, cupy.ndarray))


def contiguous(data: Array) -> Array:
    """The elements one after the other in memory; the array itself where they are."""
    return data if data.flags.c_contiguous else data.copy()


def copied(data: Array, which: xp.dtype | None = None) -> Array:
    """A copy on the same device, in a dtype."""
    return data.copy() if which is None else data.astype(which)


def library_of(data: Array) -> Any:
    """numpy or cupy, for `eye`, `full` and `ones`: to these numpy's `like=` adds a parameter that cupy's lack."""
    return xp if cupy is None or isinstance(data, ndarray | xp.generic) else cupy


def apart(values: Sequence[Any]) -> bool:
    """Return whether arrays among the arguments of an op lie on different devices."""
    return cupy is not None and len({str(device_of(value)) for value in flat(values) if is_array(value)}) > 1


def flat(values: Sequence[Any]) -> list[Any]:
    """The arguments of an op, and what is in lists among them."""
    items: list[Any] = []
    for value in values:
        items.extend(value if isinstance(value, (list, tuple)) else (value,))
    return items


@cache
def _scipy(part: str) -> Any:
    """A part of scipy, imported when it is first needed: that takes more than half as long as all the rest
    of the engine."""
    return importlib.import_module(f"scipy.{part}")


def special_of(data: Array) -> Any:
    """The special functions for an array: scipy's, or cupyx's on a GPU."""
    return _scipy("special") if cupy is None or isinstance(data, ndarray | xp.generic) else cupyx.scipy.special


def linalg_of(data: Array) -> Any:
    """Choose the module with the functions that numpy.linalg lacks, for an array: scipy's, or cupyx's on a GPU."""
    return _scipy("linalg") if cupy is None or isinstance(data, ndarray) else cupyx.scipy.linalg


def memory_of(data: Array) -> tuple[Array, int]:
    """All elements of the memory that `data` is a view of, in one dimension, and where among them `data` starts."""
    root: Any = data
    behind = data
    while (behind := getattr(behind, "base", None)) is not None:
        if is_array(behind) and behind.dtype == data.dtype:
            root = behind
    return strided(root, (root.size,), (root.itemsize,)), (pointer(data) - pointer(root)) // data.itemsize


def pointer(data: Array) -> int:
    """The address of the first element."""
    return int(data.__array_interface__["data"][0] if isinstance(data, ndarray) else data.data.ptr)


def strict(data: Array) -> Any:
    """Where a matrix without a decomposition is an error, as numpy has it; cupy must be asked to look."""
    return nullcontext() if cupy is None or isinstance(data, ndarray) else cupyx.errstate(linalg="raise")


def to_numpy(array: Array) -> ndarray:
    """The array's elements as a numpy array (copied from a GPU)."""
    if isinstance(array, ndarray):
        return array
    return xp.asarray(array) if cupy is None else cupy.asnumpy(array)  # 0-d results of numpy are scalars
