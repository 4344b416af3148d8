"""Access to the app: a check before every request, and the headers of every answer.

The app listens on the loopback interface and holds the user's own programs, so two attacks matter.  A hostile page can
let its own host name point at 127.0.0.1 (DNS rebinding): requests for host names that we do not know are refused.  It
can also post to us from its own origin: posts must come from our own page and be JSON.  `refusal` decides on plain
data; `Guard` is the WSGI middleware that asks it, in front of Flask, so that static files are covered as well.

Source: the Fetch Metadata request headers (W3C) and RFC 6454 for origins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PAGE_PATHS = frozenset({"/"})
TRACE_PATH, TRACE_TYPE = "/open", "application/vnd.sqlite3"
"""The path to which a trace file is posted, and its content type; like JSON's, no form of another site can send this
type."""
MAX_BODY = 16 * 1024 * 1024
"""Bytes of one request: an edit of a leaf with a million elements is about that long."""

_HOST = re.compile(r"(?P<name>[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{1,5}))?", re.IGNORECASE)
_HASH = re.compile(r"'sha(256|384|512)-[A-Za-z0-9+/]+={0,2}'")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: HTTP status and one or two sentences for a person."""

    status: str
    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The parts of a request on which the decision depends; absent headers are empty strings."""

    method: str
    path: str
    host: str
    origin: str = ""
    site: str = ""
    mode: str = ""
    content_type: str = ""
    scheme: str = "http"


def host_name(host: str) -> str | None:
    """The name in a Host header, lower case and without the port; None if it is not a name.

    >>> host_name("LocalHost:8050"), host_name("[::1]:8050"), host_name("a b")
    ('localhost', '[::1]', None)
    """
    match = _HOST.fullmatch(host.strip())
    if match is None or (match["port"] and int(match["port"]) > 65535):
        return None
    return match["name"].lower()


def trusted_hosts(allowed: Iterable[str] = ()) -> frozenset[str]:
    """The names that requests may use: the loopback names and those of `--allow-host`.

    Raises ValueError for anything that is not a host name, because a typing error must not let other hosts in.
    """
    names = set(LOOPBACK)
    for host in allowed:
        bare = f"[{host}]" if ":" in host and host.count(":") > 1 and not host.startswith("[") else host
        name = host_name(bare)
        if name is None:
            raise ValueError(f"{host!r} is not a host name. Give a name or an address, such as my-laptop.local")
        names.add(name)
    return frozenset(names)


def refusal(ask: Ask, trusted: frozenset[str]) -> Refusal | None:
    """Why this request gets no answer, or None if it gets one.

    >>> refusal(Ask("GET", "/", "evil.example"), trusted_hosts()).status
    '400 Bad Request'
    >>> refusal(Ask("GET", "/", "127.0.0.1:8050"), trusted_hosts()) is None
    True
    """
    name = host_name(ask.host)
    if name is None or name not in trusted:
        return Refusal(
            "400 Bad Request",
            "Backstep does not accept this host name. Open the address that it printed, "
            "or start it with --allow-host NAME to allow a name.",
        )
    if ask.method not in ("GET", "HEAD", "POST"):
        return Refusal("405 Method Not Allowed", "Backstep answers GET, HEAD and POST.")
    if ask.origin and not _is_own(ask):
        return Refusal("403 Forbidden", "Backstep answers only its own page; this request came from another site.")
    if ask.site not in ("", "same-origin", "none") and not _is_link(ask):
        return Refusal("403 Forbidden", "Backstep answers only its own page; this request came from another site.")
    kind = TRACE_TYPE if ask.path == TRACE_PATH else "application/json"
    if ask.method == "POST" and ask.content_type.partition(";")[0].strip().lower() != kind:
        return Refusal("415 Unsupported Media Type", f"Backstep reads {kind} here.")
    return None


def _is_own(ask: Ask) -> bool:
    return ask.origin.lower() == f"{ask.scheme}://{ask.host.strip()}".lower()


def _is_link(ask: Ask) -> bool:
    """A link on another site may lead to the page itself (a shared address), and to nothing else."""
    return ask.method in ("GET", "HEAD") and ask.mode == "navigate" and ask.path in PAGE_PATHS


def policy(script_hashes: Sequence[str]) -> str:
    """The Content-Security-Policy: our own files and the inline scripts with these hashes, nothing else.

    Styles need 'unsafe-inline' because MathJax and the component library write style elements; scripts do not.
    """
    for text in script_hashes:
        if not _HASH.fullmatch(text):
            raise ValueError(f"not a script hash: {text!r}")
    scripts = " ".join(["'self'", *dict.fromkeys(script_hashes)])
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-src 'self'",  # both recordings of a program beside each other
            "frame-ancestors 'self'",
        ]
    )


def headers(script_hashes: Sequence[str]) -> Mapping[str, str]:
    """The headers of every answer."""
    return {
        "Content-Security-Policy": policy(script_hashes),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


StartResponse = Callable[..., Any]
Application = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


class Guard:
    """WSGI middleware: refuses what `refusal` refuses and puts the headers on every answer."""

    def __init__(self, app: Application, trusted: frozenset[str], answer_headers: Mapping[str, str]) -> None:
        self.app = app
        self.trusted = trusted
        self.answer_headers = list(answer_headers.items())

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        no = refusal(_ask(environ), self.trusted)
        if no is not None:
            body = (no.text + "\n").encode()
            plain = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
            start_response(no.status, [*plain, *self.answer_headers])
            return [b""] if environ.get("REQUEST_METHOD") == "HEAD" else [body]
        if environ.get("HTTP_HOST", "").startswith("["):
            # Werkzeug cannot match an IPv6 literal against TRUSTED_HOSTS; this one has just been matched here.
            environ = {**environ, "HTTP_HOST": "localhost" + environ["HTTP_HOST"].rpartition("]")[2]}

        def start(status: str, own: list[tuple[str, str]], *rest: Any) -> Any:
            present = {key.lower() for key, _ in self.answer_headers}
            headers = [(key, value) for key, value in own if key.lower() not in present]
            return start_response(status, [*headers, *self.answer_headers], *rest)

        return self.app(environ, start)


def _ask(environ: Mapping[str, Any]) -> Ask:
    return Ask(
        method=environ.get("REQUEST_METHOD", ""),
        path=environ.get("PATH_INFO", "") or "/",
        host=environ.get("HTTP_HOST", ""),
        origin=environ.get("HTTP_ORIGIN", ""),
        site=environ.get("HTTP_SEC_FETCH_SITE", ""),
        mode=environ.get("HTTP_SEC_FETCH_MODE", ""),
        content_type=environ.get("CONTENT_TYPE", ""),
        scheme=environ.get("wsgi.url_scheme", "http"),
    )
