"""The browser's files: their location, and how they are sent: compressed once, at an address with a hash of their
content.

The modules of a page travel as one script for the front door and one for the app, because a hundred requests take
longer than the scripts themselves.

They are in `viz/assets` of an installed wheel, beside the packages in a checkout. All of them have the same number: a
hash of all files. A file with this number never changes and is cached by the browser forever; a page of a newer
installation requests another number, and never mixes the two.
"""

from __future__ import annotations

import hashlib
import mimetypes
from functools import cached_property
from pathlib import Path

from .bundle import bundle
from .gzip_pieces import gzip, pack

_MARK = "viz.mjs"
SCRIPTS = (_MARK, "js/front/front.mjs", "js/app/pair.mjs")
"""The modules that pages ask for; each is sent with all that it imports."""
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def assets_folder() -> Path:
    """The absolute path of the assets.  Raises FileNotFoundError with the remedy if an installation lacks them."""
    here = Path(__file__).resolve().parents[2]
    places = (here / "assets", here.parent / "assets")
    for place in places:
        if (place / _MARK).is_file():
            return place
    raise FileNotFoundError(
        f"Backstep's browser files are missing: expected {_MARK} in {places[0]} or {places[1]}. "
        "The installation is incomplete; install the distribution `backstep` again."
    )


class StaticFile:
    """A file as it was when Backstep was started; it is compressed when it is first requested."""

    def __init__(self, name: str, content: bytes) -> None:
        self.content = content
        self.tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
        self.type = f"{content_type(name)}; charset=utf-8"

    @cached_property
    def packed(self) -> bytes:
        return gzip([pack(self.content, level=9)])


class Assets:
    """All files of the page, read at once: `version` is a hash of their names and contents."""

    def __init__(self, folder: Path) -> None:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        checksums = "".join(f"{name}\0{hashlib.sha256(data).hexdigest()}\n" for name, data in files.items())
        self.version = hashlib.sha256(checksums.encode()).hexdigest()[:12]
        sent = {name: data for name, data in files.items() if not name.endswith(".mjs")}
        sent |= {name: bundle(folder / name).encode() for name in SCRIPTS}
        self._files = {name: StaticFile(name, data) for name, data in sent.items()}

    @property
    def address(self) -> str:
        """The folder of the files, as an address without the slashes around it."""
        return f"assets/{self.version}"

    def names(self) -> list[str]:
        """The files that are sent, by their paths in the folder."""
        return list(self._files)

    def find(self, path: str) -> tuple[StaticFile, str] | None:
        """The file at an address, and how long it may be cached; None if there is none."""
        for start, caching in ((f"/{self.address}/", FOR_EVER), ("/assets/", ASK_AGAIN)):
            file = self._files.get(path.removeprefix(start)) if path.startswith(start) else None
            if file is not None:
                return file, caching
        return None


def content_type(name: str) -> str:
    """The media type of a file, whatever the machine's registry says: browsers run modules of type JavaScript only."""
    return TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
