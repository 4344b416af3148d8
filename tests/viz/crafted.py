"""Crafted trace files: alterations of sound ones, each with right checksums, so that only the checks of fields stand
between them and the page.

`python -m tests.viz.crafted FIRST LAST` opens the files of these numbers in this process, as `backstep open` and a
browser do, and prints one line of JSON for each that did not end as it should: opened, or refused in one sentence.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import random
import resource
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.database import TraceFileError
from engine.tracefile import APPLICATION, SCHEMA, checksum, digest_of, save, tables
from viz.programs import from_file, record_source
from viz.revisions import Computed
from viz.store import Catalogue, Problem, Store

Rows = dict[str, list[list[Any]]]
SECONDS = 10
"""After which a file counts as one that hangs; the wall of a machine that does other things too."""
ADDRESSES = 3 * 2**30
"""Bytes of addresses that the process may have: Python, numpy and the app take half of them before the first."""

PROGRAMS = [
    """
import engine as torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
h = (w @ x).relu()
h.retain_grad()
h.register_hook(lambda grad: grad * 2)
loss = (h * 0.5).sum()
loss.backward(retain_graph=True)
print(loss.item())
x.grad.zero_()
loss.backward()
""",
    """
import engine as torch
from engine import nn
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    opt.zero_grad()
    loss = Twice.apply(net(torch.ones(4, 2))).mean()
    loss.backward()
    opt.step()
""",
    """
import engine as torch
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x.clone()
y[0] = 3.0
z = torch.cat([y, y.T]).pow(2)
g, = torch.autograd.grad(z.sum(), x, create_graph=True)
g.sum().backward()
x.grad = None
with torch.no_grad():
    x += 1
    x.data = torch.zeros(2, 2)
a = y.exp()
a.add_(1)
a.sum().backward()
""",
]


# -- sound rows -------------------------------------------------------------------------------------------------------


def sound(folder: Path) -> list[Rows]:
    """The rows of the programs' traces, by table, without checksums and digests; JSON as data."""
    found = []
    for number, source in enumerate(PROGRAMS):
        (folder / f"p{number}.py").write_text(source)
        save(record_source(source, folder / f"p{number}.py"), folder / "sound")
        with contextlib.closing(sqlite3.connect(folder / "sound")) as db:
            found.append({table: [list(row) for row in db.execute(f"SELECT * FROM {table}")]  # noqa: S608
                          for table in COLUMNS})  # fmt: skip
    return [_as_data(rows) for rows in found]


COLUMNS = {
    "meta": ("key", "value"), "files": ("name", "text"), "stacks": ("id", "frames"),
    "events": ("id", "kind", "stack", "fields"),
    "contents": ("id", "digest", "dtype", "shape", "whole", "data", "stats"),
    "tensor_values": ("id", "content"), "names": ("tensor", "name"),
}  # fmt: skip
_JSON = {"meta": (1,), "stacks": (1,), "events": (3,), "contents": (3, 6)}


def _as_data(rows: Rows) -> Rows:
    for table, columns in _JSON.items():
        for row in rows[table]:
            for column in columns:
                row[column] = None if row[column] is None else json.loads(row[column])
    return {table: [row[: len(COLUMNS[table])] for row in found] for table, found in rows.items()}


def written(rows: Rows, path: Path) -> None:
    """The rows as a file of the schema, with the checksums that they should have."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {SCHEMA}")
        db.executescript(tables(SCHEMA))
        lengths = {name: len(rows[table]) for name, table in
                   (("events", "events"), ("stacks", "stacks"), ("values", "tensor_values"))}  # fmt: skip
        for row in rows["meta"]:
            if row[0] == "counts":
                row[1] = {"$": "dict", "items": [[key, n] for key, n in lengths.items()]}
        for table, found in rows.items():
            for row in found:
                shown = [_text(cell) if column in _JSON.get(table, ()) and cell is not None else cell
                         for column, cell in enumerate(row)]  # fmt: skip
                if table == "contents":
                    cells: Any = shown
                    number, _, dtype, shape, whole, data, stats = cells
                    with contextlib.suppress(TypeError):
                        shown[1] = digest_of(dtype, shape, whole, stats, data)
                    told = checksum(number, bytes(cells[1]).hex(), dtype, shape, whole, stats)
                else:
                    told = checksum(*shown)
                with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                    marks = ", ".join("?" * (len(shown) + 1))
                    db.execute(f"INSERT INTO {table} VALUES ({marks})", (*shown, told))  # noqa: S608
        db.commit()
        path.write_bytes(db.serialize())


def _text(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


# -- alterations ------------------------------------------------------------------------------------------------------


def _odd(rng: random.Random) -> Any:
    """A value that a field may not expect."""
    return rng.choice([
        -1, 0, 1, 2, 3, 7, 40, 2**31, 2**53 - 1, 2**63, 10**400, None, "", "x", "self", "float64", "bool", "object",
        [], {}, True, False, 0.5, float("nan"), float("inf"), [0], [None], [[]], {"$": "op"},
        {"$": "tuple", "items": [1]},
        {"$": "array", "dtype": "float32", "shape": [1], "base64": "AACAPw=="}, "\ud800", "x" * 5000, [3] * 20_000,
        [2, 3],
        {"$": "slice", "items": [0, 0, 0]}, {"$": "float", "bits": "00"}, "mul", "sum", "CopySlices", "custom_function",
        "MulBackward0", "cuda:0", "a\nb", "<b>x</b>", "backward", "grad", "step", "tensor", "before", "after",
    ])  # fmt: skip


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything inside JSON data."""
    for key, part in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield (*path, key)
        yield from _places(part, (*path, key))


def _inside(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def alter_field(rows: Rows, rng: random.Random) -> None:
    """Something inside an event becomes something else, or goes, or stands twice."""
    fields = rng.choice(rows["events"])[3]
    places = list(_places(fields))
    if not places:
        return
    path = rng.choice(places)
    parent, key = _inside(fields, path[:-1]), path[-1]
    match rng.randrange(5):
        case 0 if isinstance(parent, dict):
            del parent[key]
        case 1 if isinstance(parent, list):
            parent.pop(key)
        case 2 if isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        case 3 if type(parent[key]) is int:
            parent[key] += rng.choice([-1, 1, 2, 5])
        case _:
            parent[key] = _odd(rng)


def alter_order(rows: Rows, rng: random.Random) -> None:
    """Events go, come twice, change places, or have another kind or stack."""
    events = rows["events"]
    at, other = rng.randrange(len(events)), rng.randrange(len(events))
    match rng.randrange(5):
        case 0:
            del events[at]
        case 1:
            events.insert(other, copy.deepcopy(events[at]))
        case 2:
            events[at], events[other] = events[other], events[at]
        case 3:
            events[at][1] = events[other][1]
        case 4:
            events[at][2] = rng.choice([events[other][2], _odd(rng)])
    for number, row in enumerate(events):
        row[0] = number


def alter_cell(rows: Rows, rng: random.Random) -> None:
    """A cell of any table has another value."""
    table = rng.choice([table for table, found in rows.items() if found])
    row = rng.choice(rows[table])
    column = rng.randrange(len(row))
    row[column] = _odd(rng) if column in _JSON.get(table, ()) else _plain(_odd(rng))


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, type(None))) and value != 10**400 else _text(value).encode()


def alter_part(rows: Rows, rng: random.Random) -> None:
    """Something inside the JSON of another table becomes something else."""
    table = rng.choice(["meta", "stacks", "contents"])
    row = rng.choice(rows[table])
    column = rng.choice(_JSON[table])
    if places := list(_places(row[column])):
        path = rng.choice(places)
        _inside(row[column], path[:-1])[path[-1]] = _odd(rng)


def alter_value(rows: Rows, rng: random.Random) -> None:
    """A value stands for another content, or a content has another size."""
    if rng.random() < 0.5:
        rng.choice(rows["tensor_values"])[1] = rng.randrange(len(rows["contents"]))
    else:
        row, other = rng.choice(rows["contents"]), rng.choice(rows["contents"])
        row[2:] = copy.deepcopy(other[2:])


def damaged(raw: bytearray, rng: random.Random) -> None:
    """Bytes flip, or pages of the database change places."""
    if rng.random() < 0.7:
        for _ in range(rng.choice([1, 1, 3, 40])):
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    else:
        pages = [slice(n, n + 4096) for n in range(0, len(raw), 4096)]
        one, other = rng.choice(pages), rng.choice(pages)
        raw[one], raw[other] = raw[other], raw[one]


ALTERATIONS: list[Callable[[Rows, random.Random], None]] = [
    *[alter_field] * 6, *[alter_order] * 2, alter_cell, alter_part, alter_value,
]  # fmt: skip


def craft(base: list[Rows], number: int, path: Path) -> str:
    """Write the file of a number; the name of what was done to it."""
    rng = random.Random(number)  # noqa: S311 it is to be the same again
    rows = copy.deepcopy(rng.choice(base))
    if number % 8 == 0:
        written(rows, path)
        raw = bytearray(path.read_bytes())
        damaged(raw, rng)
        path.write_bytes(raw)
        return "damaged"
    alteration = rng.choice(ALTERATIONS)
    alteration(rows, rng)
    written(rows, path)
    return alteration.__name__


# -- opening ----------------------------------------------------------------------------------------------------------


def opened(path: Path) -> str:
    """Open a file as the command and a browser do: "refused", or "shown" with some details."""
    try:
        program = from_file(path)
        store = Store(Catalogue([program]), Computed())
        revision = store.revision(program.id, None)
        scene = store.scene(revision, None, {}, "").json()
        for element in [node["id"] for node in scene["nodes"][:4]] + [node["id"] for node in scene["nodes"][-2:]]:
            store.details(revision, element)
    except (TraceFileError, Problem) as error:
        if len(str(error)) > 2000 or "Traceback" in str(error):
            raise AssertionError("a refusal is one sentence") from error
        return "refused"
    return "shown"


def _late(*_: object) -> None:
    raise TimeoutError(f"longer than {SECONDS} s")


def main(first: int, last: int) -> None:

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, _late)
    ends: dict[str, int] = {"shown": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base = sound(folder)
        path = folder / "f.backstep"
        for number in range(first, last):
            done = craft(base, number, path)
            signal.alarm(SECONDS)
            try:
                ends[opened(path)] += 1
            except BaseException as error:  # noqa: BLE001 all of it is told
                where = [
                    f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)
                ]
                told = {
                    "number": number,
                    "done": done,
                    "error": f"{type(error).__name__}: {error}"[:200],
                    "at": where[-4:],
                }
                print(json.dumps(told), flush=True)
            finally:
                signal.alarm(0)
    print(json.dumps({"ends": ends, "peak": _peak()}), flush=True)


def _peak() -> int:
    """The most bytes of memory that this process has had.

    On Linux `ru_maxrss` also counts what whoever started it had at that moment.
    """
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(int(sys.argv[1]), int(sys.argv[2]))
