"""The page's own files, and the compression of the app's answers, once for equal answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from viz.server.http.gzip_pieces import gzip, pack
from viz.server.http.security import Application, StartResponse
from viz.server.http.static import ASK_AGAIN, Assets
from viz.tasks.lru import Lru

CACHE = 128, 16 << 20
"""Compressed answers that are kept: how many, and their bytes.  They are Dash's own files and the page's layout."""
WORTH = 512
"""The number of bytes from which on an answer is compressed."""
COMMON = 16 << 10
"""The number of bytes from which on an answer is likely to be requested again, so that it is kept."""
ASSETS = "/assets/"
UNKNOWN = b"Backstep's page has no such file, or a newer Backstep runs here: load the page again.\n"
TEXTS = ("text/", "application/javascript", "application/json", "image/svg+xml")

Headers = list[tuple[str, str]]


class CompressionMiddleware:
    """WSGI middleware that sends the assets itself and all other text compressed, with a tag of its content."""

    def __init__(self, app: Application, assets: Assets) -> None:
        self.app = app
        self.assets = assets
        self._packed: Lru[bytes, bytes] = Lru(*CACHE, lambda _, packed: len(packed))

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if not path.startswith(ASSETS) or environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return self.answer(environ, start_response)
        asset = self.assets.find(path)
        if asset is None:
            return sent(environ, start_response, "404 Not Found", [("Content-Type", "text/plain")], UNKNOWN)
        file, caching = asset
        headers = [("Content-Type", file.type), ("Cache-Control", caching), ("ETag", file.tag)]
        is_packed = reads_gzip(environ) and len(file.content) >= WORTH
        body = file.packed if is_packed else file.content
        return sent(environ, start_response, "200 OK", with_encoding(headers, is_packed), body)

    def answer(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """The app's own answer."""
        head: list[Any] = []

        def start(status: str, headers: Headers, *rest: Any) -> Any:
            head[:] = [status, headers, *rest]

        chunks = self.app(environ, start)
        try:
            body = b"".join(chunks)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        status, headers, *rest = head
        names = {name.lower(): value for name, value in headers}
        is_text = names.get("content-type", "").startswith(TEXTS)
        is_head = environ.get("REQUEST_METHOD") == "HEAD"  # it has the length of a body, but no body to compress
        if not status.startswith("200") or "content-encoding" in names or not is_text or is_head:
            start_response(status, headers, *rest)
            return [body]
        headers = [pair for pair in headers if pair[0].lower() != "content-length"]
        if "cache-control" not in names:
            headers.append(("Cache-Control", ASK_AGAIN))
        digest = hashlib.sha256(body).digest()
        if "etag" not in names and "no-store" not in names.get("cache-control", ""):
            headers.append(("ETag", f'"{digest.hex()[:20]}"'))
        is_packed = reads_gzip(environ) and len(body) >= WORTH
        packed = self.packed(digest, body) if is_packed else body
        return sent(environ, start_response, status, with_encoding(headers, is_packed), packed)

    def packed(self, digest: bytes, body: bytes) -> bytes:
        if len(body) < COMMON:
            return gzip([pack(body)])
        answer = self._packed.get(digest)
        return answer if answer is not None else self._packed.put(digest, gzip([pack(body)]))


def reads_gzip(environ: Mapping[str, Any]) -> bool:
    """Return whether the browser takes gzip, as all do.

    >>> reads_gzip({"HTTP_ACCEPT_ENCODING": "br, gzip;q=0.5"}), reads_gzip({"HTTP_ACCEPT_ENCODING": "gzip;q=0"})
    (True, False)
    """
    accepted: str = environ.get("HTTP_ACCEPT_ENCODING", "")
    for entry in accepted.lower().split(","):
        coding, _, share = entry.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return share.strip("0.") != "" or share == ""
    return False


def with_encoding(headers: Headers, is_packed: bool) -> Headers:
    return [*headers, ("Vary", "Accept-Encoding"), *([("Content-Encoding", "gzip")] if is_packed else [])]


def sent(
    environ: Mapping[str, Any], start_response: StartResponse, status: str, headers: Headers, body: bytes
) -> list[bytes]:
    """The answer, or the statement that the browser's copy is still current."""
    tag = next((value for name, value in headers if name == "ETag"), None)
    had = [one.strip().removeprefix("W/") for one in environ.get("HTTP_IF_NONE_MATCH", "").split(",")]
    if tag is not None and tag in had:
        start_response("304 Not Modified", [pair for pair in headers if not pair[0].startswith("Content-")])
        return []
    start_response(status, [*headers, ("Content-Length", str(len(body)))])
    return [b""] if environ.get("REQUEST_METHOD") == "HEAD" else [body]
