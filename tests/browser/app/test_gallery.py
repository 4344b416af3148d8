"""Every program of the gallery: to its end and back by the keys, silently, and ending with the numbers of torch.

The programs are opened one after the other in one page, as the back button does it.  A step of each kind is stepped
over, not each step of each program: most are the products and sums that dozens of others have too.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.browser.conftest import View, opened
from viz.gallery import Program, fixed_programs, gallery

PROGRAMS = (*gallery(), *fixed_programs())
PRESS = """
async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const { steps, folded } = backstep.scene();
  const shiftKey = folded.length > 0; // a folded box is one step: then single ops
  const press = async (key, t, shiftKey) => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
    for (let k = 0; k < 300; k++) { if (backstep.t() === t) return; await frame(); }
    throw new Error(`stays at ${backstep.t()}, not at ${t}`);
  };
  const known = (window.stepsOfOtherPrograms ??= new Set());
  const fresh = steps.flatMap(({ kind, name, order, within, sends, writes, from, code }, k) => {
    const what = JSON.stringify([kind, name, order, !!within, sends?.length, writes, !!from, !!code, shiftKey]);
    return known.has(what) ? [] : (known.add(what), [k]);
  });
  const from = (t) => { if (backstep.t() !== t) backstep.seek(t); };
  for (const k of fresh) { from(k); await press("ArrowRight", k + 1, shiftKey); }
  for (const k of fresh.reverse()) { from(k + 1); await press("ArrowLeft", k, shiftKey); }
  await press("End", steps.length);
  const end = backstep.state();
  await press("Home", 0);
  await frame();
  return [end, fresh.length];
}
"""
"""Presses a key for each step of a kind that no program before had, forward and back, and then leads to both ends."""
ROUND = "backstep.scene().nodes.find(n => n.kind === 'group' && /^for |\\.step$/.test(n.label))?.id"
TOLERANCE = 2e-5  # float32 on both sides, and their matrix products add up in another order
Grads = Mapping[str, Any]


def unfolded(view: View, name: str) -> None:
    opened(view, name)
    while folded := view.js(ROUND):  # the last round of a loop holds the last version of each parameter
        view.js(f"backstep.fold({folded!r})")
        view.until(f"({ROUND}) !== {folded!r} && !document.documentElement.dataset.computing")
    view.until("backstep.t() === 0")


def shown_grads(state: Mapping[str, Any]) -> Grads:
    """`.grad` of each card that has one, by the name on it (of several the last one's); None where the card says so."""
    found: dict[str, Any] = {}
    for ident, node in state["nodes"].items():
        if "@" not in ident and "grad" in node["rows"]:
            found[re.sub(r" v\d+$", "", node["label"])] = node["rows"]["grad"]
    return found


def held_grads(library: Any, program: Program, names: Iterable[str]) -> Grads:
    """The `.grad` of these tensors after the same program has run with another library."""
    space: dict[str, Any] = {"__name__": "__main__"}
    source = program.source.replace("import engine as torch", f"import {library.__name__} as torch")
    found: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # .grad of an inner tensor is looked at on purpose
        with contextlib.suppress(Exception):  # what a program raises is on the screen too
            exec(compile(source, program.id, "exec"), space)
        for name in names:
            with contextlib.suppress(Exception):  # a label that is no expression of the program has no number there
                tensor = eval(name, {}, space)  # noqa: S307  # the program's own name of a tensor: `x`, `net[0].weight`
                found[name] = None if tensor.grad is None else tensor.grad.tolist()
    return found


def differs(shown: Any, held: Any) -> bool:
    """Numbers on screen are a list of all elements, or of a large tensor its figures."""
    if shown is None or held is None:
        return (shown is None) != (held is None)
    expected = np.asarray(held, dtype=float).reshape(-1)
    if isinstance(shown, Mapping):
        norm = float(np.linalg.norm(expected))
        return not math.isclose(float(shown["stats"]["norm"]), norm, rel_tol=1e-4, abs_tol=1e-7)
    return not np.allclose(np.asarray([float(x) for x in shown]), expected, rtol=TOLERANCE, atol=1e-7, equal_nan=True)


def walked(view: View, programs: Sequence[Program]) -> dict[str, Grads]:
    """The gradients that stand on screen at the end of each program; `view` fails where a console error was logged."""
    view.open(f"?program={programs[0].id}&step=0")
    ends: dict[str, Grads] = {}
    stepped = 0
    for program in programs:
        unfolded(view, program.id)
        before = view.js("backstep.serverCalls()")
        end, fresh = view.js(PRESS)
        ends[program.id] = shown_grads(end)
        stepped += fresh
        assert view.js("backstep.serverCalls()") == before, f"{program.id} asked the server while one stepped"
    assert stepped > 150, "steps of many kinds"
    return ends


def test_every_program_steps_to_its_end_and_back_and_ends_with_the_gradients_of_torch(view: View) -> None:
    ends = walked(view, PROGRAMS)
    wrong, compared = [], 0
    try:
        library = importlib.import_module("torch")
    except ImportError:  # then the numbers that each program says of itself; these were compared where torch was
        library = None
    for program in PROGRAMS:
        if library is not None and not program.legacy:  # the rules of PyTorch 0.3 are ours alone
            expected = held_grads(library, program, ends[program.id])
        else:
            holds = {re.fullmatch(r"(\w+)\.grad", text): value for text, value in program.holds.items()}
            expected = {name[1]: None if v == "None" else v for name, v in holds.items() if name}
        for name, shown in ends[program.id].items():
            if name in expected:
                compared += 1
                if differs(shown, expected[name]):
                    wrong.append((program.id, name, shown, expected[name]))
    assert wrong == []
    named = sum(len(grads) for grads in ends.values())
    assert compared >= (0.9 * named if library is not None else 1)
