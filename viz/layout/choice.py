"""From the graph that is shown to positions and routes: the choice of a layout, its memory and its worker process.

Small groups are placed by dot in this process (1 ms at 10 nodes, 4 ms at 60): it is bounded there, and a process
start would cost more than the layout.  Larger ones go to a worker that can be stopped; past its limit, and where
pygraphviz is missing, the second layout serves.
"""

from __future__ import annotations

import atexit
import json
import logging
import queue
import subprocess
import threading
from collections.abc import Callable, Hashable

import networkx as nx

from ..tasks.lru import Lru
from ..tasks.worker_process import end_process, start_process
from . import dot, simple, views
from .layered import barycentre, layered
from .layered.layered import Picture
from .layered.ports import Anchors
from .layered.ranked_graph import RankedGraph
from .sheet import HEAD, PAD, Point
from .simple import LayoutTooSlow

__all__ = ["NAMES", "Anchors", "LayoutTooSlow", "Picture", "Point", "layout", "picture_of", "positions"]

log = logging.getLogger("backstep")

NAMES = ("layered", "layered-own", *simple.OFFERS)
"""The layouts of the menu; `layered-own` is the second layout, without Graphviz."""
AT_HAND = 160
"""The most nodes and lanes of a group for which dot runs in this process."""
FOR_WORKER = 900
"""The most nodes and lanes of a group for which dot is tried: beyond, its time grows with the square."""
TIME_LIMIT = 0.6
"""Seconds that the worker has for one group."""
START_LIMIT = 5.0
"""Seconds that the worker has for its first answer, with its start."""
GROUPS = 1024, 16 << 20
"""The groups whose positions are cached: how many, and how many bytes."""
PICTURES = 48, 32 << 20
"""The whole pictures that are cached: an edit of numbers changes none, and an opening tries several."""
PLACE, ELEMENT = 500, 800
"""Bytes of one position of a group, and of a node or an edge of a picture, with their keys."""
_READ = ("size", "anchors", "under", "group", "line")
_READ_OF_EDGES = ("origin", "argument")


def layout(graph: nx.DiGraph, name: str = "layered") -> Picture:
    """Positions, boxes and routes; the same graph always gives the same picture.

    See `layered.layered.place` for the attributes that are read; with `graph.graph["view"]` (width and height in px)
    the layered layouts are broken into lines for such a view.  Raises LayoutTooSlow if a layout of networkx would take
    too long, ValueError for an unknown name or a graph with a cycle.
    """
    key = (name, _structure(graph))
    picture = _pictures.get(key)
    return _pictures.put(key, _layout(graph, name)) if picture is None else picture


def _layout(graph: nx.DiGraph, name: str) -> Picture:
    if name in ("", "layered"):
        return views.picture_for_view(graph, _places)
    if name == "layered-own":
        picture = views.picture_for_view(graph, _own)
        picture.name = name
        return picture
    picture = simple.place(graph, name)
    _enclose(graph, picture)
    return picture


def _structure(graph: nx.DiGraph) -> Hashable:
    """Everything that a layout reads from a graph."""
    about = graph.graph
    edges = graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True)
    return (
        tuple((node, *map(data.get, _READ)) for node, data in graph.nodes(data=True)),
        tuple((*edge[:-1], *map(edge[-1].get, _READ_OF_EDGES)) for edge in edges),
        tuple(about.get("within", {}).items()), about.get("view"), about.get("limit"),
        about.get("each"), about.get("lines"), about.get("low"), graph.is_multigraph(),
    )  # fmt: skip


def picture_of(graph: nx.DiGraph, name: str = "layered") -> tuple[Picture, str | None]:
    """As `layout`, for any graph and any name; and if another layout had to be used, the reason.

    The last fallback cannot fail: a graph in plain rows is better than an error.
    """
    try:
        return layout(graph, name), None
    except LayoutTooSlow as refusal:
        why = str(refusal)
    except Exception as error:  # noqa: BLE001  whatever went wrong, another layout is used
        is_offered = name in ("", *NAMES)
        if is_offered:  # an unknown name comes from a mistyped address
            log.warning("layout %r: %s", name, error)
        why = f"The layout {name} cannot place this graph, so it is drawn in layers." if is_offered else str(error)
    flat = nx.MultiDiGraph(graph) if graph.is_multigraph() else nx.DiGraph(graph)
    flat.graph["within"] = {}
    nx.set_node_attributes(flat, None, "group")
    note = "The groups of this graph cannot be drawn apart, so it is drawn without them."
    for one, reason in ((graph, why), (flat, note)):
        if one is graph and name in ("", "layered"):
            continue
        try:
            return layout(one), reason
        except Exception as error:  # noqa: BLE001  as above
            log.warning("layout 'layered': %s", error)
    return simple.rows(
        graph
    ), "No layout can place this graph, so its nodes stand in rows, in the order of the program."


def positions(graph: nx.DiGraph, name: str = "layered") -> dict[Hashable, Point]:
    """The positions by node, as networkx's layouts return them.

    >>> positions(nx.DiGraph([("a", "b")]), "layered-own")["a"]
    (0.0, 0.0)
    """
    return layout(graph, name).positions


def _enclose(graph: nx.DiGraph, picture: Picture) -> None:
    """Boxes around the members of open groups, for layouts that do not know groups."""
    within = graph.graph.get("within", {})
    for node, data in graph.nodes(data=True):
        (x, y), (w, h) = picture.positions[node], data.get("size", layered.SIZE)
        group = data.get("group")
        while group is not None:
            box = picture.boxes.get(group, (x, y, x, y))
            picture.boxes[group] = (
                min(box[0], x - w / 2 - PAD), min(box[1], y - h / 2 - HEAD),
                max(box[2], x + w / 2 + PAD), max(box[3], y + h / 2 + PAD),
            )  # fmt: skip
            group = within[group]


_pictures: Lru[Hashable, Picture] = Lru(
    *PICTURES, lambda _, picture: ELEMENT * (len(picture.positions) + len(picture.routes))
)
_groups: Lru[tuple[str, RankedGraph], list[float]] = Lru(*GROUPS, lambda _, places: PLACE * len(places))


_drawing = threading.Lock()
"""Graphviz draws one graph at a time."""


def forget() -> None:
    """Empty the caches, so that a layout can be compared and measured."""
    _pictures.clear()
    _groups.clear()


def _places(graph: RankedGraph) -> list[float]:
    """Heights by dot, if dot is available and fast enough, else by the second layout."""
    return _cached_heights("dot", graph, _find)


def _own(graph: RankedGraph) -> list[float]:
    return _cached_heights("own", graph, barycentre.places)


def _cached_heights(way: str, graph: RankedGraph, find: Callable[[RankedGraph], list[float]]) -> list[float]:
    """Heights, cached by structure: a repeated block costs one look-up."""
    key = (way, graph)
    places = _groups.get(key)
    return list(_groups.put(key, find(graph)) if places is None else places)


def _find(graph: RankedGraph) -> list[float]:
    count = len(graph.ranks)
    if dot.is_available() and count <= AT_HAND:
        with _drawing:
            return dot.places(graph)
    if dot.is_available() and count <= FOR_WORKER:
        positions = worker.places(graph)
        if positions is not None:
            return positions
    return barycentre.places(graph)


class Worker:
    """The process that runs dot: started when first needed, kept alive, and ended when it takes too long."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._busy = threading.Lock()

    def places(self, graph: RankedGraph, limit: float | None = None) -> list[float] | None:
        """Heights by dot, or None if it failed or took more than `limit` seconds (default: TIME_LIMIT)."""
        task = {
            "ranks": graph.ranks, "heights": graph.heights, "lanes": sorted(graph.lanes), "edges": graph.edges,
            "level": sorted(graph.level), "arguments": graph.arguments, "sides": graph.sides,
        }  # fmt: skip
        with self._busy:
            try:
                fresh = self._start()
                process = self._process
                if process is None or process.stdin is None:
                    return None
                process.stdin.write(json.dumps(task) + "\n")
                process.stdin.flush()
                wait = limit if limit is not None else START_LIMIT if fresh else TIME_LIMIT
                answer = json.loads(self._answers.get(timeout=wait))
            except (queue.Empty, OSError, ValueError):
                self.stop()
                return None
        positions = answer.get("places")
        return [float(v) for v in positions] if positions is not None else None

    def _start(self) -> bool:
        if self._process is not None and self._process.poll() is None:
            return False
        self._answers = queue.Queue()
        self._process = start_process("viz.layout.worker", text=True)
        threading.Thread(target=_pump, args=(self._process, self._answers), daemon=True).start()
        return True

    def stop(self) -> None:
        """End the process; the next task starts another."""
        process, self._process = self._process, None
        if process is not None:
            end_process(process)


def _pump(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    """Pass on each line of the worker: reading with a time limit needs a thread on every platform."""
    try:
        for line in process.stdout or ():
            answers.put(line)
    except ValueError:  # the stream was closed while it was read
        return


worker = Worker()
atexit.register(worker.stop)
