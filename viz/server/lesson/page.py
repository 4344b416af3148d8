"""A lesson: the app's page as one HTML file, which plays everything offline and fetches nothing.

The page has the app's own markup, style sheets and modules. Instead of the server it has the answers to likely
requests, compressed; assets/js/lesson reads them, and its components stand for those of Dash.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from html import escape

from viz.layout.choice import NAMES
from viz.server.components.header import FILES
from viz.server.components.inspector import lazy_parts
from viz.server.components.listeners import HEARD
from viz.server.components.shell import shell
from viz.server.http.bundle import bundle
from viz.server.http.static import assets_folder
from viz.server.lesson.markup import markup
from viz.server.lesson.packing import Lesson, Tell, nobody
from viz.server.store import Json, Store

_FILES = {f"export-{ending}" for ending, _ in FILES}
_LAYOUTS = {f"layout-{name}" for name in NAMES}
WITHOUT = frozenset({"act-share", "tour-offer", "on-torch", "copy-frame", *_FILES, *_LAYOUTS})
"""The parts that need a server, by id."""
ENTRY = "js/lesson/lesson.mjs"
PAINTING = "js/lesson/painting.mjs"
EARLY = "js/panels/shell/early.js"
STYLES = ("css/theme.css", "css/app.css", "css/stage.css")
"""The style sheets that come first; the others follow in the order of their names."""

_BOOT = """\
(async () => {
  const read = async (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const [data, code] = await Promise.all(["lesson-data", "lesson-code"].map(read));
  window.backstepLesson = JSON.parse(data);
  document.body.append(Object.assign(document.createElement("script"), { textContent: code }));
})().catch((error) => {
  document.body.textContent = `This lesson needs a browser of 2023 or newer (${error}).`;
});
"""


def lesson(
    store: Store, program: str, also: Sequence[Json] = (), section: int | None = None, tell: Tell = nobody
) -> str:
    """The HTML of a program as a lesson, with the edits that are foreseen, and those in `also`.

    It opens with a `section` of its run, to which these edits belong, or with the one that the app opens with.  Raises
    Problem if there is no such program, or if it cannot be shown.
    """
    data = {
        **Lesson(store, tell).packed(program, also, section),
        "hears": [list(one) for one in HEARD],
        "lazy": _lazy(),
    }
    title = str(store.catalogue.find(program).about.get("title", program))
    return _page(title, json.dumps(data, separators=(",", ":"), allow_nan=False))


def _lazy() -> dict[str, str]:
    """The component for each place."""
    return {place: part["props"]["id"] for place, part in lazy_parts().items()}


def page_with_job(title: str, data: Json) -> str:
    """The page of a lesson that paints the picture of its `job` and sends it back."""
    whole = {**data, "hears": [list(one) for one in HEARD], "lazy": _lazy()}
    return _page(title, json.dumps(whole, separators=(",", ":"), allow_nan=False), PAINTING, "connect-src 'self'")


def _page(title: str, data: str, entry: str = ENTRY, more: str = "") -> str:
    code = _code(entry)
    early = (assets_folder() / EARLY).read_text("utf-8") + "document.documentElement.dataset.page = 'player';\n"
    policy = "; ".join([
        "default-src 'none'", f"script-src {' '.join(map(_hash, (early, code, _BOOT)))}", "style-src 'unsafe-inline'",
        "img-src data: blob:", "media-src blob:", "base-uri 'none'", "form-action 'none'", *filter(None, [more]),
    ])  # fmt: skip
    icon = base64.b64encode((assets_folder() / "icon.svg").read_bytes()).decode()
    return f"""<!DOCTYPE html>
<html lang="en" class="alone" data-theme="light" data-page="player">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} · Backstep</title>
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>
{_styles()}
</style>
<script>{early}</script>
</head>
<body>
<noscript><p>This lesson plays in the browser and needs JavaScript.</p></noscript>
{_markup()}
<script type="application/gzip" id="lesson-code">{_compressed(code)}</script>
<script type="application/gzip" id="lesson-data">{_compressed(data)}</script>
<script>{_BOOT}</script>
</body>
</html>
"""


@cache
def _code(entry: str) -> str:
    return bundle(assets_folder() / entry)


@cache
def _markup() -> str:
    return markup(shell(), WITHOUT)


@cache
def _styles() -> str:
    folder = assets_folder()
    rest = sorted(path.relative_to(folder).as_posix() for path in (folder / "css").glob("*.css"))
    names = [*STYLES, *(name for name in rest if name not in STYLES), ENTRY.replace(".mjs", ".css")]
    return "\n".join((folder / name).read_text("utf-8") for name in names)


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _compressed(text: str) -> str:
    """Text as base64 of gzip: no character of it can end a script element."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
