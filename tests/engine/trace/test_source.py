"""Positions, texts and names, asked of programs that really run: each op of the stand-in tensor notes its stack."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import engine
from engine.trace.events import AnyEvent, BackwardEnded, BackwardStarted, Frame, Input, LeafCreated, OpCalled, Output
from engine.trace.source import MOST_KEPT, File, Places, Sources, collapse, file_of
from engine.trace.variable_names import Binder, tensor_names

NAME = "/home/somebody/project/script.py"


class Probe:
    """Notes the stack of every operation, as the recorder does."""

    def __init__(self, log: list[tuple[str, tuple[int, ...]]], codes: dict[int, CodeType]) -> None:
        self.__dict__.update(_log=log, _codes=codes)

    def note(self, kind: str) -> Probe:
        key: list[int] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == NAME:
                self._codes[id(frame.f_code)] = frame.f_code
                key += [id(frame.f_code), frame.f_lasti]
            frame = frame.f_back
        self._log.append((kind, tuple(key)))
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.note(name)

    def __mul__(self, other: object) -> Probe:
        return self.note("mul")

    __rmul__ = __add__ = __radd__ = __iadd__ = __mul__

    def __getitem__(self, key: object) -> Probe:
        return self.note("getitem")

    def __setitem__(self, key: object, value: object) -> None:
        self.note("setitem")

    def __bool__(self) -> bool:
        self.note("bool")
        return True

    @property
    def T(self) -> Probe:  # noqa: N802 torch's name
        return self.note("T")

    def __iter__(self) -> Iterator[Probe]:
        return iter([self.note("part"), self.note("part")])


def ran(text: str) -> tuple[list[tuple[str, tuple[Frame, ...]]], Places]:
    """The events of a program, each with its frames."""
    linecache.cache[NAME] = (len(text), None, text.splitlines(True), NAME)
    log: list[tuple[str, tuple[int, ...]]] = []
    codes: dict[int, CodeType] = {}
    space = {"x": Probe(log, codes), "torch": Probe(log, codes), "__name__": "__main__"}
    exec(compile(text, NAME, "exec"), space)
    places = Places()
    return [(kind, places.stack(key, codes)) for kind, key in log], places


def bound(binder: Binder, frames: Sequence[Frame], outputs: int = 1) -> tuple[str | None, ...]:
    """A name per output of an op at `frames`, None if it is not bound to a variable."""
    binding = binder.binding(frames, outputs)
    return (None,) * outputs if binding is None else binder.numbered(binding).names


def names(text: str) -> list[str | None]:
    """The name bound to each result, in the order in which they were made."""
    happened, places = ran(text)
    binder = Binder(Sources(places.files))
    return [bound(binder, frames)[0] for _, frames in happened]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = 2 * x", ["y"]),
        ("y = 2 * x + x", [None, "y"]),
        ("y: object = x * 2", ["y"]),
        ("a = b = x * 2", ["a"]),
        ("x += 1", ["x"]),
        ("print(x * 2)", [None]),
        ("(y := x * 2)", ["y"]),
        ("if (y := x * 2): pass", ["y", None]),
        ("class A: pass\nself = A()\nself.w = x * 2", ["self.w"]),
        ("h = [0, 0]\nfor t in range(2):\n    h[t] = x * t", ["h[t]", "h[t]"]),
        ("a, b = x * 2, x * 3", ["a", "b"]),
        ("a, b = x", ["a", "b"]),
        ("for row in x:\n    pass", ["row", "row"]),
        ("ys = [x * 1, x * 2]", ["ys[0]", "ys[1]"]),
        ("ys = [x * i for i in range(3)]", ["ys[0]", "ys[1]", "ys[2]"]),
        ("ys = [x * i for i in range(4) if i % 2]", ["ys[0]", "ys[1]"]),
        ("ys = [(x + 1) * i for i in range(2)]", [None, "ys[0]", None, "ys[1]"]),
        (
            "ys = [x * i for i in range(2)]\nx + 1\nzs = [x * i for i in range(2)]",
            ["ys[0]", "ys[1]", None, "zs[0]", "zs[1]"],
        ),
        ("p = {'w': x * 1}", ["p['w']"]),
        ("y = x * 1 if 1 else 0", ["y"]),
        ("y = torch.tensor([1.])", ["y"]),
        ("y = Variable(torch.Tensor([1.]), requires_grad=True)", ["y"]),
        ("y = torch.randn(3).requires_grad_()", ["y", "y"]),
        ("y = torch.zeros(3).fill_(2)", ["y", "y"]),
        ("y = (x\n     .exp()  # one\n     .log())", [None, "y"]),
        ("def f(v):\n    return v * 2\ny = f(x)", ["y"]),
        ("def f(v):\n    h = v * 2\n    return h\ny = f(x)", ["h"]),
        ("f = lambda v: v * 2\ny = f(x)", ["y"]),
        ("def f(v):\n    return v * 2\ndef g(v):\n    return f(v)\ny = g(x)", ["y"]),
        ("def f(v):\n    return v * 2\nys = [f(x) for _ in range(2)]", ["ys[0]", "ys[1]"]),
        ("def f(v):\n    return v * 2\ny = f(x) + 1", [None, "y"]),
        ("class A:\n    def __add__(self, o):\n        return x * 2\ny = A() + 1", ["y"]),
        ("y = x.T", ["y"]),
        ("x[0] = 1", [None]),
        ("größe = '🎉', x * 2", ["größe[1]"]),
        ("_ = x * 2", [None]),
        ("g = x.grads()[0]", ["g", "g"]),
    ],
)
def test_name_is_that_of_the_variable(text: str, expected: list[str | None]) -> None:
    if "Variable" in text:
        text = "Variable = lambda v, requires_grad: v\n" + text
    assert names(text) == expected


def test_more_results_than_a_value_has_parts_have_no_name() -> None:
    binder, frame = Binder(Sources({"a": "y = attend(x)[0]"})), Frame("a", "<module>", 1, 1, 4, 13)
    assert [bound(binder, [frame]) for _ in range(4)] == [("y",), (None,), (None,), (None,)]
    attend, x = engine.nn.MultiheadAttention(4, 2), engine.ones(3, 1, 4)
    with engine.record() as trace:
        y = attend(x, x, x)[0]
        y.sum().backward()
    assert "x" in trace.names.values()


def test_name_of_several_outputs_follows_the_unpacking() -> None:
    frame = Frame("a", "<module>", 1, 1, 7, 15)
    binder = Binder(Sources({"a": "v, i = x.max(1)"}))
    assert bound(binder, [frame], 2) == ("v", "i")
    assert bound(Binder(Sources({"a": "rrrr = x.max(1)"})), [frame], 2) == ("rrrr[0]", "rrrr[1]")


def test_name_does_not_pass_through_functions_of_the_engine() -> None:
    text = "import engine as torch\ny = torch.functional.jacobian(lambda v: v * 2, x)"
    outer = Frame("a", "<module>", 2, 2, 4, 49)
    inner = Frame("a", "<lambda>", 2, 2, 40, 45)
    sources = Sources({"a": text})
    assert sources.call_text(inner) == "v * 2" and sources.call_text(outer).endswith("x)")
    assert Binder(sources).binding([outer, inner], 1) is None


def test_binding_is_exact_only_where_the_tensor_is_surely_the_same() -> None:
    happened, places = ran("def f(v):\n    return v * 2\ny = f(x)\nz = x * 2\nw = (x * 2).to(1)")
    binder = Binder(Sources(places.files))
    assert [(b.names, b.exact) for _, frames in happened if (b := binder.binding(frames, 1))] == [
        (("y",), False), (("z",), True), (("w",), False), (("w",), True),
    ]  # fmt: skip


def test_names_of_a_trace_are_those_that_variables_hold() -> None:
    text = (
        "y = torch.softmax(2 * x)\n"
        "for i in range(3):\n    h = h * w\n"
        "k = (x * 2).to(torch.float64)\n"
        "a = torch.autograd.grad(y, x)[1]\n"
        "for row in x.view(2, 1):\n    pass\n"
    )
    found = [(1, "torch.softmax(2 * x)"), (1, "2 * x"), (3, "h * w"), (4, "x * 2"), (4, "(x * 2).to(torch.float64)"),
             (5, "torch.autograd.grad(y, x)"), (6, "x.view(2, 1)")]  # fmt: skip
    lines = text.splitlines()
    stacks = tuple((Frame("a", "<module>", n, n, col := lines[n - 1].index(t), col + len(t)),) for n, t in found)

    def leaf(tensor: int, source: str, stack: int) -> LeafCreated:
        return LeafCreated(0, stack, tensor, 0, 0, (), "float32", "cpu", True, source, None)

    def called(name: str, stack: int, inputs: tuple[int, ...], output: int, call: int | None = None) -> OpCalled:
        made = Output(output, 0, 0, (), "float32", True, 0)
        return OpCalled(0, stack, name, tuple(Input(f"i{t}", t) for t in inputs), {}, (made,), None, None, call)

    events: list[AnyEvent] = [
        leaf(0, "seen", 1), called("mul", 1, (0,), 1), called("exp", 0, (1,), 2), called("div", 0, (2,), 3),
        leaf(4, "seen", 2), leaf(5, "seen", 2),
        called("mul", 2, (4, 5), 6), called("mul", 2, (6, 5), 7), called("mul", 2, (7, 5), 8),
        called("mul", 3, (0,), 9), called("to", 4, (9,), 10),
        BackwardStarted(0, 5, 0, "grad", (), None, False, False),
        leaf(11, "seen", 5), called("mul", 5, (11, 0), 13, call=0), leaf(12, "grad", 5), leaf(14, "grad", 5),
        BackwardEnded(0, -1, 0, True, (14, 12)),
        called("view", 6, (0,), 15), called("select", 6, (15,), 16), called("select", 6, (15,), 17),
    ]  # fmt: skip
    assert tensor_names(events, stacks, {"a": text}) == {
        0: "x", 3: "y", 4: "h", 5: "w", 6: "h", 7: "h", 8: "h", 10: "k", 12: "a", 16: "row", 17: "row",
    }  # fmt: skip


def test_columns_count_characters() -> None:
    happened, places = ran("größe = '🎉'; y = x * 2 + x")
    sources = Sources(places.files)
    assert [(f[-1].col, f[-1].end_col, sources.call_text(f[-1])) for _, f in happened] == [
        (17, 22, "x * 2"), (17, 26, "x * 2 + x"),
    ]  # fmt: skip


def test_frame_covers_the_expression_in_every_python() -> None:
    text = "for row in x:\n    pass\nif x:\n    pass\ny = (x\n     .exp()\n     .log(1,\n          2))\n"
    happened, places = ran(text)
    sources = Sources(places.files)
    assert [(k, sources.call_text(f[-1])) for k, f in happened] == [
        ("part", "x"), ("part", "x"), ("bool", "x"), ("exp", "x.exp()"), ("log", "x.exp().log(1, 2)"),
    ]  # fmt: skip


def test_stack_goes_from_the_outermost_frame_inwards() -> None:
    happened, _ = ran("def f(v):\n    return v * 2\ny = f(x)")
    assert [(f.function, f.line) for f in happened[0][1]] == [("<module>", 3), ("f", 2)]


def test_file_names_tell_no_home_folder() -> None:
    _, places = ran("y = x * 2")
    assert list(places.files) == ["script.py"]
    code = compile("y = 1", "/home/somebody/elsewhere/script.py", "exec")
    assert places.frame(code, 0).file == "elsewhere/script.py"
    inside = compile("y = 1", "/home/somebody/project/deep/model.py", "exec")
    assert places.frame(inside, 0).file == "deep/model.py"
    twin = compile("y = 1", "/srv/elsewhere/script.py", "exec")
    assert places.frame(twin, 0).file == "elsewhere/script (2).py"


def test_collapsed_text_is_one_line() -> None:
    text = "z.backward(torch.tensor([[1., 0,  # here\n              0, 0]]),\n  retain_graph=True  # keep\n)"
    assert collapse(text) == "z.backward(torch.tensor([[1., 0, 0, 0]]), retain_graph=True)"
    assert collapse("f(\n  1 +") == "f( 1 +"
    assert collapse("f('''a\nb''')") == "f('''a b''')"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 * x", ("x",)),
        ("x * w", ("x", "w")),
        ("torch.dot(a, h[t])", ("a", "h[t]")),
        ("self.w.sum(dim)", ("self.w", "dim")),
        ("torch.cat([a, b])", ("a", "b")),
        ("f(x) + 1", ()),
        ("-x", ("x",)),
        ("x.T", ("x",)),
        ("x.reshape(n)", ("x", "n")),
        ("trainer.train()", ()),
        ("resnet.forward(x)", ("x",)),
        ("self.layer(x)", ("x",)),
    ],
)
def test_operands_are_the_names_that_an_expression_reads(text: str, expected: tuple[str, ...]) -> None:
    sources = Sources({"a": f"import torch\n{text}"})
    assert sources.operands(Frame("a", "<module>", 2, 2, 0, len(text))) == expected


def test_text_that_does_not_parse_has_lines_but_no_names() -> None:
    sources = Sources({"a": "y = = 2\n"})
    frame = Frame("a", "<module>", 1, 1, 4, 7)
    assert sources.node(frame) is None and sources.call_text(frame) == "= 2"
    assert bound(Binder(sources), [frame]) == (None,)
    assert Sources({}).call_text(frame) == "" and File("").nodes == {}


def test_files_with_the_same_text_are_parsed_once_unless_they_are_long() -> None:
    assert Sources({"a": "y = 2\n"}).file("a") is Sources({"b": "y = 2\n"}).file("b")
    assert Sources({"a": "y = 2\n"}).file("a") is not Sources({"a": "y = 3\n"}).file("a")
    long = "#" * (MOST_KEPT + 1)
    assert file_of(long) is not file_of(long)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("d = [(torch.ones(2), torch.zeros(2)) for _ in range(2)]", ["d[0][0]", "d[0][1]", "d[1][0]", "d[1][1]"]),
        ("d = [{'a': torch.ones(2), 'b': torch.zeros(2)} for _ in range(2)]",
         ["d[0]['a']", "d[0]['b']", "d[1]['a']", "d[1]['b']"]),
        ("d = [torch.ones(2) if i else torch.zeros(2) for i in range(3)]", ["d[0]", "d[1]", "d[2]"]),
        ("d = [(torch.ones(2) if i else None, torch.zeros(2)) for i in range(2)]", []),
        ("d = [None if i == 0 else torch.ones(2) for i in range(2)]", []),
        ("d = [torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.ones(1, 2)) for _ in range(2)]",
         ["d[0]", "d[1]"]),
    ],
)  # fmt: skip
def test_elements_of_a_comprehension_have_true_names_or_none(tmp_path: Path, line: str, names: list[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text(f"import engine as torch\n{line}\n", encoding="utf-8")
    with engine.record() as trace:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {})
    assert list(trace.names.values()) == names


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("out = model(x)\nout.loss.backward()", "out.loss"),
        ("out = model(x)\nout['loss'].backward()", "out['loss']"),
        ("loss = model(x).loss\nloss.backward()", "loss"),
        ("model(x).loss.backward()", None),
        ("accelerator.train(model(x))", "loss"),
        ("result = accelerator.train(model(x))", "loss"),
        ("accelerator.train(model(x), engine.tensor(2.0))", None),
        ("out = model(x)\naccelerator.backward(out.loss)", "out.loss"),
        ("accelerator.backward(model(x).loss)", None),
        ("out = model(x)\nengine.autograd.backward(out.loss)", "out.loss"),
    ],
)
def test_loss_that_a_library_computes_or_sends_has_a_name(
    call: str, name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "site-packages" / "model_library"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(
        "class Out(dict):\n    __getattr__ = dict.__getitem__\n"
        "def model(x):\n    y = x * 2\n    loss = y.sum()\n    return Out(loss=loss, y=y)\n"
        "class accelerator:\n"
        "    def train(out, gradient=None):\n        (out.loss / 2).backward(gradient)\n"
        "    def backward(loss):\n        loss.backward()\n"
    )
    monkeypatch.syspath_prepend(library.parent)
    monkeypatch.delitem(sys.modules, "model_library", raising=False)
    file = tmp_path / "program.py"
    file.write_text(
        f"import engine\nfrom model_library import accelerator, model\nx = engine.ones(2, requires_grad=True)\n{call}\n"
    )
    with engine.record() as trace:
        exec(compile(file.read_text(), str(file), "exec"), {})
    (root,) = next(event for event in trace.events if isinstance(event, BackwardStarted)).roots
    assert trace.names.get(root.tensor) == name


def test_an_edited_program_is_read_as_it_is_now_in_the_next_recording(tmp_path: Path) -> None:
    script = tmp_path / "script.py"

    def run(source: str) -> engine.Trace:
        script.write_text(source, encoding="utf-8")
        with engine.record() as trace:
            exec(compile(source, str(script), "exec"), {})
        return trace

    head = "import engine\nx = engine.tensor(2.0, requires_grad=True)\n"
    first = run(f"{head}y = x * 3\n")
    assert not [loop for event in first.events for loop in event.loops]
    second = run(f"{head}for step in range(2):\n    total = x + step\n")
    for trace, text in ((first, "y = x * 3"), (second, "total = x + step")):
        assert any(name.endswith("script.py") and text in code for name, code in trace.files.items())
    assert [(loop.name, loop.text) for event in second.events for loop in event.loops] == [("step", "0"), ("step", "1")]
