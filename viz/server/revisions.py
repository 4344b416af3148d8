"""The computations of the store: replay, scene, details and overview, called on the browser's form of edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from engine.replay.program import Command, Edits, commands
from engine.replay.replay import replay
from engine.trace.events import BackwardStarted, Trace
from viz.graph.folds import FOLD_ABOVE, FOLD_ABOVE_TOLD
from viz.reading.library import library
from viz.run.prefix import left_out
from viz.run.run import Run
from viz.scene import details as viz_details
from viz.scene import problem_story, story
from viz.scene import scene as viz_scene
from viz.scene.changes import changes
from viz.scene.command_positions import last_place
from viz.scene.reading import reading_of
from viz.scene.run_overview import in_iterations, run_overview
from viz.schema.details import Details
from viz.schema.run import RunGraphs, RunOverview
from viz.schema.scene import Scene, Section
from viz.server.lesson.proposals import proposed
from viz.server.library.on_engine import UnlikeEngine, base_of, recomputed
from viz.server.programs import damage_note
from viz.server.store import NOT_RECOMPUTED, Json, Problem, Program, SceneJob

LAYOUT = "layered"
AGAIN = "Nothing was changed: the previous revision is still shown. Try other numbers or another position."


class StoreComputation:
    """The pure side of the app behind the store's questions."""

    def replay(self, trace: Trace, edits: Mapping[str, Any], watch: Callable[[int], None] | None = None) -> Trace:
        """The trace run again; `watch` as in `engine.replay`.

        A program that ran on another library is run again on the engine first, if that does the same.  Raises Problem
        where the edits do not fit this program, or where the engine does not do what the library did.
        """
        try:
            if not library(trace):
                return replay(trace, to_edits(trace, edits), watch)
            engine_edits = to_edits(trace, edits)
            own = recomputed(trace, engine_edits.leaves)
            replayed = own.page_trace(replay(own.trace, engine_edits, watch))
            return replace(replayed, meta={**replayed.meta, "recomputed": own.text})
        except UnlikeEngine as error:
            raise Problem(NOT_RECOMPUTED, "This edit cannot be computed here", f"{error} {AGAIN}") from error
        except (ValueError, TypeError, KeyError) as error:
            text = (str(error) or type(error).__name__).rstrip(".")
            raise Problem("edit-refused", "This edit does not fit the program", f"{text}. {AGAIN}") from error

    def scene(self, job: SceneJob) -> Scene:
        return scene_of(job)

    def details(self, trace: Trace, scene: Mapping[str, Any], element: str) -> Details:
        reading = reading_of(trace)
        if element not in reading.drawing.items and element not in reading.drawing.grouping.labels:
            text = f"This revision has no element {element[:100]!r}."
            raise Problem("unknown-element", "This element does not exist", text)
        return viz_details.details(trace, scene, element)

    def overview(self, run: Run, program: Program) -> RunOverview:
        size = None if program.file is None else program.file.stamp[2]
        return run_overview(run, program.id, program.version, size)

    def graphs(self, run: Run) -> RunGraphs:
        return {"findings": in_iterations(run)}


def scene_of(job: SceneJob) -> Scene:
    """The scene of a revision, with the story's chapters tied to its steps."""
    about = {key: value for key, value in job.program.about.items() if key not in ("card", "chapters", "hidden")}
    edits = None if job.revision.is_base else job.revision.edits
    revision = {
        "id": job.revision.id,
        "label": label_of(job.revision.edits),
        "base": None if edits is None else job.base_id,
    }
    lost = damage_note(job.base) if job.base.meta.get("damaged") != job.run.whole.meta.get("damaged") else ""
    about["left_out"] = " ".join(
        filter(None, (lost, left_out(job.base, job.run.whole), continued_calls_note(job.base)))
    )
    base = job.base if edits is None else base_of(job.base, job.trace)
    previous = base if job.previous is job.base else job.previous
    scene = viz_scene.scene(
        job.trace, revision=revision, program={"id": job.program.id, **about}, edits=edits, folds=job.folds,
        layout=job.layout or LAYOUT, previous=previous,
        fold_above=FOLD_ABOVE if job.program.chapters is None else FOLD_ABOVE_TOLD,
        changes=() if edits is None else changes(job.base, to_edits(job.base, edits)), base=base,
    )  # fmt: skip
    scene["section"] = section_of(job.run, job.section)
    inside = scene.pop("inside", None)
    if job.program.chapters is not None:
        chapters = scene["program"]["chapters"] = job.program.chapters({**scene, "inside": inside})
        scene["program"]["opens"] = None  # a story begins at its beginning
        if edits is not None:
            before, now = reading_of(job.base), reading_of(job.trace)
            recorded = job.program.chapters(story.outline(before))
            chapters = story.retold(chapters, recorded, before, now, edits, scene)
        scene["program"]["chapters"] = list(proposed(chapters, reading_of(job.base)))
    else:
        chapters = scene["program"]["chapters"] = problem_story.chapters(job.trace, scene)
        scene["program"]["opens"] = problem_story.opens(job.trace, scene, chapters)
    return scene


def continued_calls_note(trace: Trace) -> str:
    """The note on a section whose backward calls continue into earlier ones, "" for any other."""
    match trace.meta.get("section"):
        case {"passed": int(count)} if count > 0:
            what = f"the backward pass also goes through {count:,} {'node' if count == 1 else 'nodes'}"
            return f"In this iteration {what} of earlier iterations; they are not part of this graph."
    return ""


def section_of(run: Run, number: int) -> Section | None:
    """The position of a section in its run; None if the run is shown as a whole."""
    if not run.is_divided:
        return None
    names = [section.label for section in run.sections]
    section = run.sections[number]
    return {
        "at": number, "count": len(names), "kind": section.kind, "label": section.label,
        "iterations": sum(one.kind == "iteration" for one in run.sections),
        "around": list(section.around), "before": names[number - 1] if number else None,
        "after": names[number + 1] if number + 1 < len(names) else None,
    }  # fmt: skip


def to_edits(base: Trace, edits: Mapping[str, Any]) -> Edits:
    """The browser's edits as the engine takes them.

    The browser names a command by its id alone; which recorded event stands behind it is looked up here.  A command
    without a place (`after` null) comes after the last event of the program.
    """
    commands_by_id = {command.id: command for command in commands(base)}
    specs = edits.get("commands")
    full = None if specs is None else [_full(dict(spec), commands_by_id, base) for spec in specs]
    return Edits.from_json({"leaves": edits.get("leaves") or {}, "commands": full})


def _full(spec: Json, commands_by_id: Mapping[str, Command], base: Trace) -> Json:
    recorded = commands_by_id.get(str(spec.get("id")))
    if recorded is not None:
        spec["base"] = recorded.base
        if spec.get("leaf") is None:  # a tensor in a folded group has no name there
            spec["leaf"] = recorded.leaf
        if None in (spec.get("inputs") or ()):
            spec["inputs"] = list(recorded.inputs or ())
    else:
        spec.pop("base", None)  # an event number of another program must not get in
    root = spec.pop("root", None)
    if not spec.get("roots"):
        same = recorded is not None and (root is None or (len(recorded.roots) > 1 and root == recorded.roots[0]))
        spec["roots"] = list(recorded.roots) if same and recorded else [] if root is None else [root]
    if recorded is not None and len(spec["roots"]) > 1 and spec.get("gradient") is not None:
        spec["gradient"] = _all_gradients(spec["gradient"], recorded, base)
    if spec.get("after") is None:
        spec["after"] = last_place(base)
    return spec


def _all_gradients(first: Any, recorded: Command, base: Trace) -> list[Any]:
    """One gradient per root: the browser edits the first one, the others stay as recorded."""
    event = base.events[recorded.base] if recorded.base is not None else None
    roots = event.roots[1:] if isinstance(event, BackwardStarted) else ()
    arrays = [base.value(root.gradient).array for root in roots]
    gradients = [array.tolist() for array in arrays if array is not None]
    if len(gradients) < len(arrays):
        raise ValueError("the gradients of the other roots were recorded only as samples; record with a higher limit")
    return [first, *gradients]


def label_of(edits: Mapping[str, Any]) -> str:
    """A revision in two words, for the header.

    >>> label_of({"leaves": {}, "commands": None}), label_of({"leaves": {"0": [1]}, "commands": None})
    ('as recorded', 'values edited')
    """
    leaves, commands = bool(edits.get("leaves")), edits.get("commands") is not None
    if leaves and commands:
        return "values and commands edited"
    return "values edited" if leaves else "commands edited" if commands else "as recorded"
