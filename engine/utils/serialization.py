"""`save` and `load`: tensors in dicts and lists as a file, without pickle.

The file is a zip of numpy arrays (as numpy.savez writes it) and a text that says how they are nested.  Nothing in it is
run when it is read.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import OrderedDict
from typing import IO, Any

import numpy as np

from ..api.creation import creation
from ..arrays import array as arrays
from ..arrays import errors
from ..arrays.session import warn
from ..arrays.size import Size
from ..nn.module import Module
from ..nn.parameter import Buffer, Parameter
from ..tensor.tensor import Tensor
from ..trace.file.encoding import decode, encode

__all__ = ["load", "save"]

STRUCTURE = "structure.json"
File = str | os.PathLike[str] | IO[bytes]


def save(obj: Any, f: File, *_: Any, **__: Any) -> None:
    """Write tensors, numbers and texts, nested in dicts, lists and tuples, to a path or an open file.

    Of a module, which torch would pickle with its class, the `state_dict()` is written.  Raises TypeError for anything
    else, RuntimeError where the path's folder does not exist.  Source: torch.save.

    >>> import engine as torch
    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    arrays: list[Any] = []
    if isinstance(obj, Module):
        packed = {"kind": "module", "class": type(obj).__name__, "state": _packed(obj.state_dict(), arrays)}
    else:
        packed = _packed(obj, arrays)
    text = json.dumps(packed)
    named = {f"a{place}": data for place, data in enumerate(arrays)}
    buffer = io.BytesIO()
    np.savez(buffer, **named)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(STRUCTURE, text)
    if isinstance(f, (str, os.PathLike)):
        folder = os.path.dirname(os.fspath(f))
        if folder and not os.path.isdir(folder):
            raise errors.runtime(f"Parent directory {folder} does not exist.")
        with open(f, "wb") as stream:
            stream.write(buffer.getvalue())
    else:
        f.write(buffer.getvalue())


def load(f: File, map_location: Any = None, *_: Any, **__: Any) -> Any:
    """The object written by `save`, with tensors on `map_location` if given.

    Of a module the `state_dict()` comes back, with a warning: no file makes a class.  Raises OSError where there is no
    file that can be read, ValueError for another one, one that torch has pickled among them.  Source: torch.load.

    >>> import engine as torch
    >>> import io
    >>> buffer = io.BytesIO()
    >>> torch.save({"w": torch.tensor([1.0])}, buffer)
    >>> _ = buffer.seek(0)
    >>> torch.load(buffer)
    {'w': tensor([1.])}
    """
    if isinstance(f, (str, os.PathLike)):
        open(
            f, "rb"
        ).close()  # a file that is not there, a folder, one that may not be read: Python's error, as torch's
    else:
        f.seek(0)
    if not zipfile.is_zipfile(f):
        raise ValueError(f"{_name(f)} was not written by save: expected a zip of arrays")
    if not isinstance(f, (str, os.PathLike)):
        f.seek(0)
    with zipfile.ZipFile(f) as archive:
        if STRUCTURE not in archive.namelist():
            raise ValueError(
                f"{_name(f)} was not written by save: it may be a pickled file of torch. Write it with "
                "numpy from torch (numpy.savez), and load the arrays."
            )
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
            for name in archive.namelist()
            if name.endswith(".npy")
        }
        return _unpacked(json.loads(archive.read(STRUCTURE)), arrays, map_location)


def _name(f: Any) -> str:
    return repr(os.fspath(f)) if isinstance(f, (str, os.PathLike)) else "this"


KINDS: dict[str, type[Tensor]] = {"tensor": Tensor, "parameter": Parameter, "buffer": Buffer}
NESTED: dict[str, type] = {"dict": dict, "ordered": OrderedDict, "list": list, "tuple": tuple, "size": Size}


def _packed(value: Any, members: list[Any]) -> Any:
    """The nesting as JSON, tensors and arrays by their number in `members`."""
    if isinstance(value, (Tensor, np.ndarray)):
        members.append(arrays.to_numpy(value._array) if isinstance(value, Tensor) else value)
        if not isinstance(value, Tensor):
            return {"kind": "array", "at": len(members) - 1}
        kind = next((name for name in ("parameter", "buffer") if isinstance(value, KINDS[name])), "tensor")
        return {"kind": kind, "at": len(members) - 1, "requires_grad": value.requires_grad}
    if isinstance(value, dict):
        kind = "ordered" if isinstance(value, OrderedDict) else "dict"
        return {"kind": kind, "items": [[_packed(k, members), _packed(v, members)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "size" if isinstance(value, Size) else "tuple"
        return {"kind": kind, "items": [_packed(item, members) for item in value]}
    if value is None or isinstance(value, (bool, int, float, str, np.generic, arrays.dtype, arrays.device)):
        return {"kind": "plain", "value": encode(value)}
    raise TypeError(
        f"save writes tensors, numbers and texts, nested in dicts, lists and tuples; found {type(value).__name__}. Of "
        "a module or an optimiser, save the state_dict()."
    )


def _unpacked(data: Any, members: dict[str, Any], where: Any) -> Any:
    kind = data["kind"]
    if kind == "module":
        warn(
            f"The file holds the state_dict of a {data['class']}, which load gives back: a file that is safe to load "
            "makes no class. Make the module, and give it the numbers by load_state_dict()."
        )
        return _unpacked(data["state"], members, where)
    if kind == "plain":
        return decode(data["value"])
    if kind == "array":
        return members[f"a{data['at']}"]
    if kind in KINDS:
        tensor = creation.from_numpy(members[f"a{data['at']}"])
        tensor = tensor if where is None else tensor.to(where)
        if kind == "parameter":
            return Parameter(tensor, data["requires_grad"])
        tensor = Buffer(tensor) if kind == "buffer" else tensor
        return tensor.requires_grad_() if data["requires_grad"] else tensor
    items = data["items"]
    if kind in ("dict", "ordered"):
        return NESTED[kind]((_unpacked(k, members, where), _unpacked(v, members, where)) for k, v in items)
    return NESTED[kind](_unpacked(item, members, where) for item in items)
