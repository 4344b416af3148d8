"""Crafted trace files: alterations of sound ones, each with right checksums, so that only the checks of fields stand
between them and the page.

`python -m tests.viz.helpers.crafted COUNT [SEED]` opens this many in this process, as `backstep open` and a browser do.
Each has to end opened, or refused in one sentence. Hypothesis draws them, the same ones for a seed; of one that ends in
another way it looks for the smallest alteration that does, which is printed as a line of JSON.

Some of them are runs: recorded as by `backstep record`, with an outline in blocks and the numbers of the run, and shown
iteration by iteration.  The sizes from which that is done are small here.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import math
import os
import random
import resource
import signal
import sqlite3
import sys
import tempfile
import threading
import traceback
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, given, seed, settings, strategies

import viz.run.run
import viz.server.programs
from engine.arrays.session import slot
from engine.trace.events import Damaged, Trace
from engine.trace.file import tracefile
from engine.trace.file.batches import checksum, digest_of
from engine.trace.file.consistency import open_checked
from engine.trace.file.database import TraceFileError
from engine.trace.file.measures import COLUMNS, Measures
from engine.trace.file.outline import ARRAYS, row_sum
from engine.trace.file.streaming import Stream
from engine.trace.file.tracefile import APPLICATION, SCHEMA, open_trace, save, tables
from engine.trace.recorder import Recorder
from engine.trace.source import Places
from tests.engine.trace.equality import event_fields, values_equal
from viz.run.measures import measured
from viz.run.prefix import MOST
from viz.run.run import Run
from viz.run.window import Windows
from viz.scene.reading import _readings
from viz.server.programs import from_file, record_source
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Problem, Revision, Store

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
h.sum().backward()
""",
    """
import engine as torch
x = torch.tensor(3.0, requires_grad=True)
y = x * x * 0.5
y.backward(retain_graph=True)
print(y.item())
x.grad.zero_()
y.backward()
y.backward()
""",
    """
import engine as torch
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    opt.zero_grad()
    Twice.apply(net(torch.ones(2))).sum().backward()
    opt.step()
""",
    """
import engine as torch
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x.clone()
y[0] = 3.0
torch.cat([y, y.T]).sum(0)[:2].pow(2).sum().backward()
""",
    """
import engine as torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
g, = torch.autograd.grad(x.exp().sum(), x, create_graph=True)
g.sum().backward()
x.grad = None
with torch.no_grad():
    x += 1
    x.data = torch.zeros(2)
a = x.exp()
a.add_(1)
a.sum().backward()
""",
]

RUNS = [
    """
import engine as torch
w = torch.ones(2, requires_grad=True)
b = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w, b], lr=0.1, momentum=0.9)
for step in range(5):
    opt.zero_grad()
    loss = ((w * step + b).tanh() - 0.5).pow(2).sum()
    loss.backward()
    opt.step()
    print(loss.item())
""",
    """
import engine as torch
net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Tanh())
for epoch in range(2):
    state = torch.zeros(1, 2)
    for step in range(2):
        x = torch.ones(1, 2, requires_grad=True)
        out = net(x + state)
        out.sum().backward()
        state = x.grad * 0.5
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.1 * p.grad
                p.grad = None
""",
]
BLOCK, SHORT, CHECKED = 25, 40, 60
"""Events of a block of the outline, below which a program is not divided, and that are checked when a file is opened.
"""


# -- sound rows -------------------------------------------------------------------------------------------------------


class Sound(NamedTuple):
    """A program's trace as it was recorded, and the rows of its file without checksums, by table; JSON as text."""

    trace: Trace
    rows: Rows
    run: Run | None = None


def sound(folder: Path) -> list[Sound]:
    """The traces that are altered."""
    found = []
    for number, source in enumerate([*PROGRAMS, *RUNS]):
        script, path = folder / f"p{number}.py", folder / f"sound{number}"
        script.write_text(source)
        is_run = number >= len(PROGRAMS)
        if is_run:
            record_run(source, script, path)
        else:
            save(record_source(source, script), path)
        with contextlib.closing(sqlite3.connect(path)) as db:
            rows = {table: [list(row[:-1]) for row in db.execute(f"SELECT * FROM {table}")]  # noqa: S608
                    for table in TABLES}  # fmt: skip
        trace = open_trace(path)
        found.append(Sound(trace, rows, Run(trace) if is_run else None))
    return found


def record_run(source: str, script: Path, path: Path) -> None:
    """Record a program as a script is: while it runs, block by block."""
    recorder = Recorder()
    stream = Stream(recorder, str(path), Places(str(script.parent)))
    recorder.pace = lambda: stream._write(float("inf")) and None
    slot.active = recorder
    code = compile(source, str(script), "exec")
    program = threading.Thread(target=exec, args=(code, {"print": lambda *_: None}))  # none of our frames above it
    program.start()
    program.join()
    slot.active = None
    stream.finish({"script": script.name, "status": 0})


TABLES = ("meta", "files", "stacks", "events", "contents", "tensor_values", "names", "outline")
_JSON = {"meta": (1,), "stacks": (1,), "events": (3,), "contents": (3, 6)}
"""The columns that hold JSON."""


def written(rows: Rows, path: Path, sums: bool = True) -> None:
    """The rows as a file of the schema, with the checksums that they should have, or with those that they had."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {SCHEMA}")
        db.executescript(tables(SCHEMA))
        lengths = {"events": len(rows["events"]), "stacks": len(rows["stacks"]), "values": len(rows["tensor_values"])}
        for table, found in rows.items():
            for row in found:
                if sums and table == "meta" and row[0] == "counts":
                    row[1] = json.dumps({"$": "dict", "items": [[key, n] for key, n in lengths.items()]})
                with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                    told = _checksum(table, row) if sums or len(row) == WIDTHS[table] else row.pop()
                    marks = ", ".join("?" * (len(row) + 1))
                    db.execute(f"INSERT INTO {table} VALUES ({marks})", (*row, told))  # noqa: S608
        db.commit()
        path.write_bytes(db.serialize())


WIDTHS = {"meta": 2, "files": 2, "stacks": 2, "events": 4, "contents": 7, "tensor_values": 2, "names": 2,
          "outline": 2}  # fmt: skip
"""The columns of a table, but for the checksum."""


def _checksum(table: str, row: list[Any]) -> int:
    if table == "outline":
        key, data = row
        return row_sum(str(key), data) if isinstance(data, bytes) else 0
    if table != "contents":
        return checksum(*row)
    number, _, dtype, shape, whole, data, stats = row
    with contextlib.suppress(TypeError, AttributeError, UnicodeEncodeError):
        row[1] = digest_of(dtype, shape, whole, stats, data)
    return checksum(number, bytes(row[1]).hex() if isinstance(row[1], bytes) else row[1], dtype, shape, whole, stats)


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


def alter_json(row: list[Any], column: int, rng: random.Random) -> None:
    """Something inside the JSON of a row becomes something else, or goes, or stands twice."""
    if row[column] is None:
        return
    data = json.loads(row[column])
    places = list(_places(data))
    if not places:
        return
    path = rng.choice(places)
    parent, key = _inside(data, path[:-1]), path[-1]
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
    row[column] = _text(data)


def alter_field(rows: Rows, rng: random.Random) -> None:
    """A field of an event, or a part of it."""
    alter_json(rng.choice(rows["events"]), 3, rng)


def alter_argument(rows: Rows, rng: random.Random) -> None:
    """A static argument of an op, or a part of it."""
    ops = [row for row in rows["events"] if row[1] == "OpCalled" and '"attrs":{"$":"dict","items":[]}' not in row[3]]
    if ops:
        row = rng.choice(ops)
        data = json.loads(row[3])
        held = [_text(data["attrs"])]
        alter_json(held, 0, rng)
        data["attrs"] = json.loads(held[0])
        row[3] = _text(data)


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
    column = rng.randrange(WIDTHS[table])
    odd = _odd(rng)
    row[column] = _text(odd) if column in _JSON.get(table, ()) else _plain(odd)


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, type(None))) and value != 10**400 else _text(value).encode()


def alter_part(rows: Rows, rng: random.Random) -> None:
    """Something inside the JSON of another table."""
    table = rng.choice(["meta", "stacks", "contents"])
    alter_json(rng.choice(rows[table]), rng.choice(_JSON[table]), rng)


def alter_value(rows: Rows, rng: random.Random) -> None:
    """A value stands for another content, or a content is another one."""
    if rng.random() < 0.5:
        rng.choice(rows["tensor_values"])[1] = rng.randrange(len(rows["contents"]))
    else:
        row, other = rng.choice(rows["contents"]), rng.choice(rows["contents"])
        row[2:7] = other[2:7]


def alter_outline(rows: Rows, rng: random.Random) -> None:
    """A row of the outline, or of the numbers of a run, says something else, goes, or has the data of another."""
    listed = rows["outline"]
    at = rng.randrange(len(listed))
    row = listed[at]
    match rng.randrange(8):
        case 0:
            del listed[at]
        case 1:
            row[1] = rng.choice(listed)[1]
        case 2:
            row[0] = rng.choice([rng.choice(listed)[0], f"{rng.randrange(9)}/{str(row[0]).rpartition('/')[2]}", "x"])
        case _:
            row[1] = zlib.compress(_altered_data(str(row[0]).rpartition("/")[2], zlib.decompress(row[1]), rng))


def _altered_data(name: str, data: bytes, rng: random.Random) -> bytes:
    if name not in ARRAYS and "." not in name:
        held = [data.decode()]
        alter_json(held, 0, rng)
        return held[0].encode()
    is_whole = name in ARRAYS or name.partition(".")[2] in ("event", "tensor", "sampled")
    column = np.frombuffer(data, ARRAYS.get(name, "<i8" if is_whole else "<f8")).copy()
    odd = [-2, -1, 0, 1, 3, 9, 200, 2**31 - 1, 2**52, *([] if is_whole else [float("nan"), float("inf"), 1.797e308])]
    with contextlib.suppress(OverflowError):
        for _ in range(rng.choice([1, 1, 5])):
            if len(column):
                column[rng.randrange(len(column))] = rng.choice(odd)
    match rng.randrange(6):
        case 0:
            return column[:-1].tobytes()
        case 1:
            return column.tobytes() + bytes(rng.choice([1, 8, 2**24]))
        case 2:
            return column[::-1].tobytes()
    return column.tobytes()


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
    *[alter_field] * 5, alter_argument, *[alter_order] * 2, alter_cell, alter_part, alter_value,
]  # fmt: skip


class CraftedFile(NamedTuple):
    """A file: what it was made of, what was done to it, and whether its checksums were made to fit."""

    sound: Sound
    done: str
    fits: bool


RUN_ALTERATIONS = [*ALTERATIONS, *[alter_outline] * 6]


def craft(base: list[Sound], rng: random.Random, path: Path) -> CraftedFile:
    """Write an altered file: of eight, one has flipped bytes, and one the checksums that it had."""
    runs = rng.randrange(7) == 3  # each of them takes as long as eight others
    chosen = rng.choice([one for one in base if (one.run is not None) == runs])
    rows = {table: [list(row) for row in found] for table, found in chosen.rows.items()}
    kind = rng.randrange(8)
    if kind == 0:
        written(rows, path)
        raw = bytearray(path.read_bytes())
        damaged(raw, rng)
        path.write_bytes(raw)
        return CraftedFile(chosen, "damaged", fits=False)
    fits = kind != 4
    if not fits:
        for table, found in rows.items():
            for row in found:
                row.append(_checksum(table, row))
    alteration = rng.choice(ALTERATIONS if chosen.run is None else RUN_ALTERATIONS)
    alteration(rows, rng)
    written(rows, path, fits)
    return CraftedFile(chosen, alteration.__name__, fits)


# -- opening ----------------------------------------------------------------------------------------------------------


def opened(path: Path, file: CraftedFile) -> str:
    """Open a file as the command and a browser do: "refused", or "shown" with some details, and nothing untrue."""
    try:
        program = from_file(path)
        if not file.fits:
            nothing_untrue(open_checked(path, MOST), file.sound.trace)
        store = Store(Catalogue([program]), StoreComputation())
        revision = store.revision(program.id, None)
        if file.sound.run is not None:
            run_shown(store, revision, file.sound.run, file.fits)
        scene = store.scene(revision, None, {}, "").json()
        holds_together(scene)
        for element in [node["id"] for node in scene["nodes"][:3]] + [node["id"] for node in scene["nodes"][-2:]]:
            holds_together(store.details(revision, element).json())
    except (TraceFileError, Problem) as error:
        in_a_sentence(error)
        return "refused"
    return "shown"


def in_a_sentence(error: Exception) -> None:
    if len(str(error)) > 2000 or "Traceback" in str(error):
        raise AssertionError("a refusal is one sentence") from error


def run_shown(store: Store, revision: Revision, was: Run, fits: bool) -> None:
    """The run view of a file, and its iterations.  What is refused leaves the others as they are."""
    run, opens = store.whole(revision)
    holds_together(store.overview(revision.program).json())
    holds_together(store.graphs(revision.program).json())
    if not fits:
        no_number_untrue(measured(run.whole, run.outline), measured(was.whole, was.outline))
    for number in {0, opens, len(run.sections) // 2, len(run.sections) - 1} if run.is_divided else ():
        try:
            shown = store.revision(revision.program, None, section=number)
            holds_together(store.scene(shown, None, {}, "").json())
            run.tensors(number)
            if not fits:
                window_untouched(run, number, was)
        except (TraceFileError, Problem) as error:
            in_a_sentence(error)


def no_number_untrue(found: Measures, was: Measures) -> None:
    """Each number of a run is what the whole file has there, or not known.  The last update may be a part of one, where
    the recording ends with it."""
    for table, columns in COLUMNS.items():
        known = {tuple(row[:-1] if table == "losses" else row[:2]): row for row in _rows(was, table)}
        for row in _rows(found, table):
            before = known.get(tuple(row[:-1] if table == "losses" else row[:2]))
            if before is None:
                last = max(found.gradients.event, default=-1)
                assert table == "updates" and row[0] > last, f"a row of {table} that was not there"
                continue
            for name, one, other in zip(columns, row, before, strict=True):
                assert one == other or one != one or (one == 0 and name == "sampled"), f"another {table}.{name}"


def _rows(measures: Measures, table: str) -> list[tuple[Any, ...]]:
    columns = [getattr(getattr(measures, table), name).tolist() for name in COLUMNS[table]]
    return list(zip(*columns, strict=True))


def window_untouched(run: Run, number: int, was: Run) -> None:
    """Each event, value and name of a section is what the whole file has there, up to one that is damaged."""
    section = run.trace(number)
    same = Windows(was.whole, was.outline, run.sections).trace(number)
    lost = [event.index for event in section.events if isinstance(event, Damaged)]
    count = lost[0] if lost else len(section.events)
    assert not lost or count == len(section.events) - 1, "events behind one that is damaged"
    assert list(map(event_fields, section.events[:count])) == list(map(event_fields, same.events[:count])), "another"
    for value, original in zip(section.values, same.values, strict=False):
        assert value.damaged or values_equal(value, original), "another value in a section"
    assert section.names.items() <= same.names.items(), "another name in a section"


def nothing_untrue(found: Trace, was: Trace) -> None:
    """Of a file whose checksums do not fit, each event, value and name is what was saved, or is not there.

    The scene is a function of the trace, so that nothing in it can be another number either.
    """
    lost = [event.index for event in found.events if isinstance(event, Damaged)]
    whole = tuple(found.events)[: lost[0] if lost else None]
    assert list(map(event_fields, whole)) == list(map(event_fields, was.events[: len(whole)])), "another event"
    for value, original in zip(found.values, was.values, strict=True):
        assert value.damaged or values_equal(value, original), "another value"
    for stack, frames in zip(found.stacks, was.stacks, strict=True):
        assert not stack or stack == frames, "another place in the program"
    assert found.names.items() <= was.names.items() and found.files.items() <= was.files.items(), "another name"
    known = {key: value for key, value in found.meta.items() if key not in ("damaged", "incomplete")}
    assert known.items() <= was.meta.items() and found.argv in ((), was.argv), "something else of the recording"


def holds_together(shown: Any) -> None:
    """What the browser gets is JSON, and each value in it has as many elements as its shape says."""
    json.dumps(shown, allow_nan=False)
    waiting = [shown]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
            if one.keys() >= {"shape", "dtype", "data", "stats"}:
                size = math.prod(one["shape"])
                assert one["stats"]["size"] == size and (one["data"] is None or len(one["data"]) == size), "a size"
                assert one["data"] is None or not one.get("damaged"), "numbers of a damaged value"
        elif isinstance(one, list):
            waiting += one


def _late(*_: object) -> None:
    raise TimeoutError(f"longer than {SECONDS} s")


def small_sizes() -> None:
    """Short programs are divided and written in blocks as long ones are, and not read to their end when opened."""
    sizes: dict[Any, dict[str, int]] = {
        tracefile: {"BLOCK": BLOCK}, viz.run.run: {"SMALL": SHORT, "SHORT": SHORT, "CHECKED": CHECKED},
        viz.server.programs: {"CHECKED": CHECKED},
    }  # fmt: skip
    for module, constants in sizes.items():
        vars(module).update(constants)


def main(count: int, first: int) -> None:
    """Crafts and opens `count` files; Hypothesis draws what is altered, and of a failure looks for the smallest one."""
    small_sizes()
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, _late)
    ends: dict[str, int] = {"shown": 0, "refused": 0}
    crafted: list[CraftedFile] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base = sound(folder)

        @seed(first)
        @settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(strategies.randoms(use_true_random=False))
        def file_is_shown_or_refused(rng: random.Random) -> None:
            crafted[:] = [craft(base, rng, folder / "f.backstep")]
            signal.alarm(SECONDS)
            try:
                ends[opened(folder / "f.backstep", crafted[0])] += 1
            finally:
                signal.alarm(0)
                _readings.clear()  # the memory of one file counts

        try:
            file_is_shown_or_refused()
        except BaseException as error:  # noqa: BLE001 all of it is told
            print(json.dumps(_told(crafted[0], error)), flush=True)
    print(json.dumps({"ends": ends, "peak": _peak()}), flush=True)


def _told(file: CraftedFile, error: BaseException) -> dict[str, Any]:
    where = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)]
    return {"done": file.done, "error": f"{type(error).__name__}: {error}"[:200], "at": where[-4:]}


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
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
