"""The folders of the code and who imports whom: `python -m docs.make.architecture` draws docs/images/architecture.svg.

It also lists the folders in docs/architecture.md, each by the first sentence of its docstring.
An arrow goes from a room to one that it imports; where another way leads there too, it is left out.  Cost: linear in
the imports, and quadratic in the rooms, of which there are about thirty.
"""

from __future__ import annotations

import ast
from pathlib import Path

import grimp
import networkx as nx

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
MARKS = ("<!-- folders -->\n", "<!-- /folders -->")
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
PACKAGES = {"engine": "#00705c", "viz": "#5b2bb5"}
WIDTH, ROW, BOX, LETTER = 1120, 74, 30, 7.6
STYLE = """  text { font: 600 13px system-ui, "Segoe UI", sans-serif; text-anchor: middle; fill: #1b2430 }
  path { fill: none; stroke: #7f8a9a; stroke-width: 1.2 }
  rect { fill: #fff; stroke-width: 1.6 }"""


def rooms() -> nx.DiGraph:
    """Rooms as `package.room`, with an edge to each room of which one of its modules imports one."""
    imports = grimp.build_graph("engine", "viz", exclude_type_checking_imports=True, cache_dir=None)
    graph = nx.DiGraph()
    for module in sorted(imports.modules):
        for other in sorted(imports.find_modules_directly_imported_by(module)):
            ends = _room(module, imports), _room(other, imports)
            if None not in ends and ends[0] != ends[1]:
                graph.add_edge(*ends)
    return nx.transitive_reduction(graph)


def _room(module: str, imports: grimp.ImportGraph) -> str | None:
    """The folder of a module; None for one that lies beside the folders, such as `viz.cli`."""
    package, _, rest = module.partition(".")
    room = f"{package}.{rest.partition('.')[0]}"
    return room if rest and imports.find_children(room) and room != "viz.gallery" else None


def places(graph: nx.DiGraph) -> dict[str, tuple[float, float]]:
    """The middle of each room: a row by the longest way that leads to it, in the row near to those that import it."""
    rank: dict[str, int] = {}
    for room in nx.topological_sort(graph):
        rank[room] = max((rank[user] + 1 for user in graph.predecessors(room)), default=0)
    found: dict[str, tuple[float, float]] = {}
    for row in range(max(rank.values()) + 1):
        members = sorted(room for room in rank if rank[room] == row)
        wanted = {room: _mean([found[user][0] for user in graph.predecessors(room)]) for room in members}
        members.sort(key=lambda room: (wanted[room], room))
        step = WIDTH / len(members)
        found.update({room: (step * (i + 0.5), ROW * (row + 0.5)) for i, room in enumerate(members)})
    return found


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else WIDTH / 2


def picture() -> str:
    """The picture as SVG."""
    graph = rooms()
    at = places(graph)
    ways = [_arrow(at[room], at[other]) for room, other in sorted(graph.edges)]
    boxes = [_box(room, *at[room]) for room in sorted(at)]
    height = max(y for _, y in at.values()) + ROW / 2
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img">'
    title = "<title>The folders of the engine (green) and of the app (violet), and what they import</title>"
    tip = '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    tip += '<path d="M0 0L8 4L0 8z" style="fill:#7f8a9a;stroke:none"/></marker>'
    ground = f'<rect width="{WIDTH}" height="{height:g}" style="stroke:none"/>'
    return "\n".join([head, title, f"<style>\n{STYLE}\n</style>", tip, ground, *ways, *boxes, "</svg>", ""])


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x0, y0), (x1, y1) = (start[0], start[1] + BOX / 2), (end[0], end[1] - BOX / 2)
    bend = (y1 - y0) / 2
    return f'<path d="M{x0:g} {y0:g}C{x0:g} {y0 + bend:g} {x1:g} {y1 - bend:g} {x1:g} {y1:g}" marker-end="url(#tip)"/>'


def _box(room: str, x: float, y: float) -> str:
    wide = LETTER * len(room) + 20
    colour = PACKAGES[room.partition(".")[0]]
    rect = f'<rect x="{x - wide / 2:g}" y="{y - BOX / 2:g}" width="{wide:g}" height="{BOX}" rx="7" stroke="{colour}"/>'
    return f'{rect}<text x="{x:g}" y="{y + 4.5:g}">{room.replace(".", "/")}</text>'


def page(text: str) -> str:
    """The page with its list of rooms made anew."""
    before, _, rest = text.partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    folders = sorted(room.replace(".", "/") for room in rooms())
    rows = [f"| [{room}](../{room}/__init__.py) | {_sentence(ROOT / room / '__init__.py')} |" for room in folders]
    return before + MARKS[0] + "\n".join(["| folder | contents |", "|---|---|", *rows, ""]) + MARKS[1] + after


def _sentence(file: Path) -> str:
    told = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n\n")[0]
    return " ".join(told.split())


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")
