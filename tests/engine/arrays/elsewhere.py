"""A stand-in for cupy that needs no GPU: arrays that are not numpy's, kept by the rules that cupy's keep.

An `Elsewhere` wraps a numpy array and hides it.  It refuses what cupy.ndarray refuses: to become a numpy array unasked,
to meet one in an op, to be an index of Python's, functions and parameters that cupy does not have (cupy_names.txt), and
what cupy's own code says that it cannot do.  It answers as cupy does: 0-d arrays where numpy gives scalars, elements as
views, places out of bounds wrapped around, and of several writes to one place not the last one.  So what runs on it
asks for no more than cupy offers; that cupy's kernels compute the same numbers, only a GPU can show.

Source: cupy/_core/core.pyx, _kernel.pyx, _routines_indexing.pyx and cupy/linalg, version 14.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.engine.arrays.cupy_limits import LIMITS, sort_limits
from tests.engine.arrays.cupy_names import listed, signature_of

NAMES = listed()
SCALARS = (bool, int, float, complex, np.generic)
NO_CONVERSION = (
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
)
HOST_ANSWERS = frozenset({"shape", "ndim", "size", "result_type", "can_cast", "iscomplexobj", "isrealobj"})
"""Functions whose answer is Python's, not an array."""
TAKE_NUMPY = frozenset({"array", "asarray", "ascontiguousarray", "asfortranarray", "full", "full_like"})
"""Functions that copy from the host."""
COMPARED = frozenset({"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"})
WIDE = frozenset("iIlLqQ")
AT = {
    "add": WIDE | set("efd"), "subtract": frozenset("iI"), "maximum": WIDE | set("fd"), "minimum": WIDE | set("fd"),
    "bitwise_and": WIDE, "bitwise_or": WIDE, "bitwise_xor": WIDE,
}  # fmt: skip
"""Which ufuncs have an `at`, and for which dtypes."""
FOLDS = {"reduce": ("add", "multiply"), "accumulate": ("add", "multiply"), "reduceat": ("add",)}


class CUDARuntimeError(RuntimeError):
    """The complaint of the driver."""


class Device:
    """A GPU: number 0, the only one."""

    def __init__(self, number: int | None = None) -> None:
        self.id = number or 0

    def __enter__(self) -> Device:
        if self.id != 0:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        return self

    def __exit__(self, *raised: object) -> None:
        pass


def refuse_numpy(*values: Any) -> None:
    """The error for a numpy array among what cupy's own code is given."""
    for value in values:
        if isinstance(value, np.ndarray):
            raise TypeError(f"Unsupported type {type(value)}")
        if isinstance(value, (list, tuple)):
            refuse_numpy(*value)


def host(value: Any) -> Any:
    """The numpy array behind, also within lists and dicts."""
    if isinstance(value, Elsewhere):
        return value._host
    if isinstance(value, (list, tuple)):
        return type(value)(host(v) for v in value)
    if isinstance(value, dict):
        return {name: host(v) for name, v in value.items()}
    return value


def wrapped(made: Any, *given: Any) -> Any:
    """What numpy made as arrays elsewhere; a result that is one of the `given` arrays is that one."""
    if isinstance(made, (np.ndarray, np.generic, bool)):
        for value in given:
            if isinstance(value, Elsewhere) and value._host is made:
                return value
        return Elsewhere(np.asarray(made))
    if isinstance(made, (list, tuple)):
        parts = [wrapped(part, *given) for part in made]
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)
    return made


def computed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a numpy function for arrays elsewhere.  A GPU does not warn."""
    with np.errstate(all="ignore"):
        made = function(*host(args), **host(kwargs))
    return wrapped(made, *args, *kwargs.values())


_raising = {"linalg": False}


class errstate:  # noqa: N801 - as cupyx spells it
    """`cupyx.errstate(linalg="raise")`: else a matrix without a decomposition is no error."""

    def __init__(self, *, linalg: str | None = None) -> None:
        self.raising = linalg == "raise"

    def __enter__(self) -> None:
        self.before, _raising["linalg"] = _raising["linalg"], self.raising

    def __exit__(self, *raised: object) -> None:
        _raising["linalg"] = self.before


def unchecked(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Linear algebra: unless asked to raise, what cannot be computed is nan."""
    try:
        return computed(function, args, kwargs)
    except np.linalg.LinAlgError as error:
        if _raising["linalg"] or ("ingular" not in str(error) and "definite" not in str(error)):
            raise
        return Elsewhere(np.full(args[-1].shape, np.nan, args[-1].dtype))


def method(name: str, taken: str) -> Callable[..., Any]:
    """A method that takes what cupy's takes, and no more."""
    signature = signature_of(taken)

    def call(self: Elsewhere, *args: Any, **kwargs: Any) -> Any:
        signature.bind(*args, **kwargs)
        refuse_numpy(*args, *kwargs.values())
        with np.errstate(all="ignore"):
            made = getattr(self._host, name)(*host(args), **host(kwargs))
        return wrapped(made, self, *args, *kwargs.values())

    call.__name__ = name
    return call


def operator(ufunc: np.ufunc, reflected: bool = False) -> Callable[..., Any]:
    """`x + y` and the like, by numpy's protocol, unless the other operand asks for its own."""

    def call(self: Elsewhere, other: Any) -> Any:
        theirs = getattr(other, "__array_ufunc__", Elsewhere)
        if theirs is None or (theirs is Elsewhere and getattr(other, "__array_priority__", 0) > 100):
            return NotImplemented
        return ufunc(other, self) if reflected else ufunc(self, other)

    return call


def written(ufunc: np.ufunc) -> Callable[..., Any]:
    """`x += y`."""
    return lambda self, other: ufunc(self, other, out=self)


class Flags:
    """Of cupy's arrays there is no `writeable`."""

    def __init__(self, flags: Any) -> None:
        self.c_contiguous, self.f_contiguous, self.owndata = flags.c_contiguous, flags.f_contiguous, flags.owndata

    def __getitem__(self, name: str) -> bool:
        return bool(
            {"C_CONTIGUOUS": self.c_contiguous, "F_CONTIGUOUS": self.f_contiguous, "OWNDATA": self.owndata}[name]
        )


class Elsewhere:
    """See the module's text.  `_host` is the numpy array, which no code of the engine may touch."""

    __slots__ = ("__weakref__", "_host")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]  # as cupy: arrays are not hashed
    device = Device(0)

    def __init__(self, made: np.ndarray) -> None:
        self._host: Any = made

    # -- numpy's protocols ----------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(NO_CONVERSION)

    def __array_ufunc__(self, ufunc: np.ufunc, how: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out", ())
        if len(out) > 1:
            raise ValueError("The 'out' parameter must have exactly one array value")
        name = ufunc.__name__
        if name not in NAMES and f"scipy.special.{name}" not in NAMES:
            return NotImplemented
        if any(not isinstance(v, (*SCALARS, Elsewhere, np.ndarray)) for v in (*inputs, *out) if how == "__call__"):
            return NotImplemented
        if name in COMPARED:
            inputs = tuple(v.item() if isinstance(v, np.ndarray) and v.ndim == 0 else v for v in inputs)
        refuse_numpy(*inputs, *out)
        if how == "at":
            return scattered(ufunc, *inputs)
        if how in FOLDS and name not in FOLDS[how]:
            raise NotImplementedError(f"`{name}.{how}` is not supported yet")
        known = {"out", "dtype", "casting", *({"order", "axes"} if name == "matmul" else ())}
        known |= {"axis", "keepdims"} if how == "reduce" else {"axis"} if how in FOLDS else set()
        if set(kwargs) - known:
            raise TypeError(f"Wrong arguments {kwargs}")
        with np.errstate(all="ignore"):
            made = getattr(ufunc, how)(*host(inputs), **host(kwargs))
        return wrapped(made, *out)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = ".".join([*function.__module__.split(".")[1:], function.__name__])
        if name not in NAMES or not all(issubclass(t, (Elsewhere, np.ndarray)) for t in types):
            return NotImplemented
        signature = NAMES[name]
        if signature is not None:
            signature.bind(*args, **kwargs)
        if name not in TAKE_NUMPY:
            refuse_numpy(*args, *kwargs.values())
        if name in LIMITS:
            LIMITS[name](*args, **kwargs)
        if name in HOST_ANSWERS:
            return function(*host(args), **host(kwargs))
        if name.startswith("linalg."):
            return unchecked(function, args, kwargs)
        return computed(function, args, kwargs)

    # -- attributes -----------------------------------------------------------------------------------------------

    shape = property(lambda self: self._host.shape, lambda self, new: setattr(self._host, "shape", new))
    strides = property(lambda self: self._host.strides)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    flags = property(lambda self: Flags(self._host.flags))
    T = property(lambda self: Elsewhere(self._host.T))
    mT = property(  # noqa: N815 - as numpy spells it
        lambda self: Elsewhere(self._host.mT)
    )
    real = property(lambda self: Elsewhere(self._host.real))
    data = property(lambda self: SimpleNamespace(ptr=self._host.__array_interface__["data"][0], device=self.device))

    @property
    def base(self) -> Elsewhere | None:
        """The array that owns the memory; None for itself."""
        root: Any = None
        behind: Any = self._host
        while (behind := getattr(behind, "base", None)) is not None:
            root = behind if isinstance(behind, np.ndarray) else root
        return None if root is None else Elsewhere(root)

    # -- elements -------------------------------------------------------------------------------------------------

    def _key(self, given: Any) -> tuple[tuple[Any, ...], bool]:
        """An index for numpy, places wrapped around, and whether it selects by arrays."""
        parts = given if isinstance(given, tuple) else (given,)
        refuse_numpy(parts)
        parts = tuple(np.asarray(host(p)) if isinstance(p, (Elsewhere, list, tuple, bool)) else p for p in parts)
        parts = tuple(
            p.astype(np.int32) if isinstance(p, np.ndarray) and not p.size and p.dtype.kind == "f" else p for p in parts
        )
        spans = [0 if p is None or p is Ellipsis else p.ndim if _is_mask(p) else 1 for p in parts]
        if Ellipsis not in [p for p in parts if not isinstance(p, np.ndarray)]:
            parts, spans = (*parts, Ellipsis), [*spans, 0]
        found, axis = [], 0
        for part, span in zip(parts, spans, strict=True):
            if part is Ellipsis:
                axis += self.ndim - sum(spans)
            elif isinstance(part, np.ndarray) and not _is_mask(part) and axis < self.ndim and self.shape[axis]:
                if part.dtype.kind not in "iu":
                    raise IndexError(f"arrays used as indices must be of integer or boolean type. ({part.dtype.type})")
                part = part % self.shape[axis]
            found.append(part)
            axis += span
        return tuple(found), any(isinstance(p, np.ndarray) for p in found)

    def __getitem__(self, key: Any) -> Elsewhere:
        found, _ = self._key(key)
        return Elsewhere(self._host[found])

    def __setitem__(self, key: Any, value: Any) -> None:
        found, by_arrays = self._key(key)
        if not by_arrays:
            if not isinstance(value, Elsewhere) and np.ndim(value):
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            self._host[found] = host(value)
            return
        refuse_numpy(value)
        places = np.arange(self.size).reshape(self.shape)[found]
        drawn = np.broadcast_to(np.asarray(host(value)), places.shape)
        self._host.flat[places.ravel()[::-1]] = drawn.astype(self.dtype).ravel()[::-1]  # which write stays is not told

    def __iter__(self) -> Iterator[Elsewhere]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self._host)

    def __copy__(self) -> Elsewhere:
        return Elsewhere(self._host.copy())

    def __deepcopy__(self, memo: Any) -> Elsewhere:
        return self.__copy__()

    # -- methods --------------------------------------------------------------------------------------------------

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> np.ndarray:
        """A copy, as a numpy array: the only way out."""
        made: np.ndarray = self._host.copy(order=order)
        return made

    def item(self) -> Any:
        """The only element."""
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._host.item()

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None, copy: bool = True
    ) -> Elsewhere:
        """In another dtype; itself where it has it and no copy is asked for."""
        if casting is not None or subok is not None:
            raise TypeError("casting and subok are not supported yet")
        with np.errstate(all="ignore"):
            return wrapped(self._host.astype(dtype, order=order, copy=copy), self)  # type: ignore[no-any-return]  # Any

    def take(self, indices: Any, axis: int | None = None, out: Any = None) -> Elsewhere:
        """By place, wrapped around."""
        refuse_numpy(indices)
        return wrapped(self._host.take(host(indices), axis, mode="wrap"))  # type: ignore[no-any-return]  # Any

    def fill(self, value: Any) -> None:
        """One value everywhere."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """In place."""
        sort_limits(self, axis, kind)
        self._host.sort(axis, kind="stable")

    def argsort(self, axis: int | None = -1, kind: Any = None) -> Elsewhere:
        """Stable."""
        sort_limits(self, axis, kind)
        return Elsewhere(self._host.argsort(axis, kind="stable"))

    def dot(self, b: Elsewhere, out: Elsewhere | None = None) -> Elsewhere:
        """The product with another of its kind."""
        if not isinstance(b, Elsewhere):
            raise TypeError(f"Argument 'b' has incorrect type (expected cupy.ndarray, got {type(b).__name__})")
        return wrapped(self._host.dot(b._host))  # type: ignore[no-any-return]  # numpy says Any

    def __pow__(self, other: Any) -> Any:
        quick = {2: np.square, 0.5: np.sqrt, -1.0: np.reciprocal} if type(other) is float else {2: np.square}
        if type(other) in (int, float) and other in quick and self.dtype.kind == "f":
            return quick[other](self)
        return _power(self, other)


def _is_mask(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind == "b"


_power = operator(np.power)
FOLD = "axis=, out=, keepdims="
TYPED = "axis=, dtype=, out=, keepdims="
METHODS = {
    "tolist": "", "tobytes": "order=", "copy": "order=", "view": "dtype=, array_class=",
    "reshape": "*shape, order=, copy=", "transpose": "*axes", "swapaxes": "axis1, axis2", "flatten": "order=",
    "ravel": "order=", "squeeze": "axis=", "repeat": "repeats, axis=", "searchsorted": "v, side=, sorter=",
    "nonzero": "", "diagonal": "offset=, axis1=, axis2=", "compress": "condition, axis=, out=", "max": FOLD,
    "min": FOLD, "all": FOLD, "any": FOLD, "argpartition": "kth, axis=", "argmax": "axis=, out=, dtype=, keepdims=",
    "argmin": "axis=, out=, dtype=, keepdims=", "clip": "min=, max=, out=", "round": "decimals=, out=",
    "trace": "offset=, axis1=, axis2=, dtype=, out=", "sum": TYPED, "mean": TYPED, "prod": TYPED,
    "var": "axis=, dtype=, out=, ddof=, keepdims=", "std": "axis=, dtype=, out=, ddof=, keepdims=",
    "cumsum": "axis=, dtype=, out=", "cumprod": "axis=, dtype=, out=", "conj": "",
}  # fmt: skip
OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "matmul": np.matmul, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "divmod": np.divmod, "lshift": np.left_shift,
    "rshift": np.right_shift, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "pow": np.power,
}  # fmt: skip
COMPARISONS = {
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
SIGNS = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}

PYTHONS = ("int", "float", "complex", "repr", "str", "format")

for _name in PYTHONS:
    setattr(Elsewhere, f"__{_name}__", lambda self, *more, name=_name: getattr(builtins, name)(self._host, *more))
for _name, _taken in METHODS.items():
    setattr(Elsewhere, _name, method(_name, _taken))
for _name, _ufunc in OPERATORS.items():
    if _name != "pow":
        setattr(Elsewhere, f"__{_name}__", operator(_ufunc))
    setattr(Elsewhere, f"__r{_name}__", operator(_ufunc, reflected=True))
    if _name not in ("matmul", "divmod"):
        setattr(Elsewhere, f"__i{_name}__", written(_ufunc))
for _name, _ufunc in COMPARISONS.items():
    setattr(Elsewhere, f"__{_name}__", operator(_ufunc))
for _name, _ufunc in SIGNS.items():
    setattr(Elsewhere, f"__{_name}__", lambda self, ufunc=_ufunc: ufunc(self))


def scattered(ufunc: np.ufunc, target: Any, key: Any, values: Any = None) -> None:
    """`ufunc.at`: of few ufuncs, for few dtypes."""
    name = ufunc.__name__
    if name not in AT:
        raise NotImplementedError(f"`{name}.at` is not supported yet")
    found, by_arrays = target._key(key)
    if by_arrays and target.dtype.char not in AT[name]:
        raise TypeError(f"cupy.{name}.at only supports {', '.join(sorted(AT[name]))} as data type")
    with np.errstate(all="ignore"):
        ufunc.at(target._host, found, np.asarray(host(values)).astype(target.dtype))
