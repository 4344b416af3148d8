"""Serving the app on a socket: the next free port, one thread for many requests, and an end without a traceback."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import waitress.server
from waitress.task import ThreadedTaskDispatcher

from viz.server.app import build, guarded
from viz.server.front.local import LocalServer
from viz.server.front.share import Launch
from viz.server.front.uploads import DroppedFiles
from viz.server.http.security import MAX_BODY, Application
from viz.server.library.rerun import SECONDS
from viz.server.store import Store

if sys.platform != "win32":
    import resource

log = logging.getLogger("backstep")

PORT = 8050
TRIES = 64
THREADS = 8
"""Threads that wait for requests."""
MOST_THREADS = 256
"""Threads that answer at the same time, while many wait for a computation."""
CONNECTIONS = 4096
"""Connections that are open at the same time: a browser keeps six, three hundred browsers 1,800."""
IDLE = 30
"""Seconds after which a connection that asks nothing is closed, so that what was forgotten makes room."""
SPARE = 128
"""Open files that are left for everything else: traces, the worker that lays out, standard streams."""
SELECTABLE = 500
"""Connections on systems without `poll`: as many sockets as `select` can wait for on Windows, with some to spare."""
SWITCH = 0.001
"""Seconds that one thread may delay the others: each answer waits for that several times."""
SILENT = logging.Logger("silent", logging.CRITICAL + 1)
ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104  # recognised here, never a default


class PortInUse(Exception):
    """Raised if the requested port is not available; the text says what to do."""


def bind(host: str, port: int | None) -> socket.socket:
    """A listening socket on `port`, or (None) on the first free one from 8050 on.

    Raises PortInUse if the port is in use or the address is not one of this machine's.
    """
    ports = [port] if port is not None else [*range(PORT, PORT + TRIES), 0]
    for number in ports:
        try:
            return _listen(host, number)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and port is None:
                continue
            raise PortInUse(_why(host, number, error)) from error
    raise PortInUse(f"No port from {PORT} to {PORT + TRIES} is free on {host}.")


def _listen(host: str, port: int) -> socket.socket:
    family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, proto)
    try:
        if hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port just closed can be used again
        listening.bind(address)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is in use on {host}. Leave out --port to take the next free one, or give another."
    if error.errno == errno.EACCES:
        return f"Port {port} needs administrator rights. Choose a port above 1023."
    return (
        f"Cannot listen on {host!r}, port {port}: {error.strerror or error}. --host takes an address of this machine."
    )


def address(listening: socket.socket) -> str:
    """The address that a browser on this machine opens."""
    host, port = listening.getsockname()[:2]
    if host in ANY_ADDRESS:
        host = "127.0.0.1"
    return url_of(host, port)


def url_of(host: str, port: int) -> str:
    """An address as a browser takes it: an IPv6 host has brackets."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@dataclass
class RunningServer:
    """A server that accepts requests from a thread: `url`, and `close()` to end it."""

    url: str
    _end: Callable[[], None] = field(repr=False)
    _state: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def is_open(self) -> bool:
        return not self._state.is_set()

    def close(self) -> None:
        """End it; a second time does nothing."""
        if self.is_open:
            self._state.set()
            self._end()

    def at(self, path: str) -> RunningServer:
        """The same server at another address."""
        origin = self.url.split("/?", 1)[0].rstrip("/")
        return RunningServer(origin + path, self._end, self._state)


def serve(
    store: Store, listening: socket.socket, path: str = "/", allowed: Iterable[str] = (), browser: bool = True,
    seconds: float = 0,
) -> None:  # fmt: skip
    """Serves until Ctrl-C (or SIGTERM); returns normally then.  A program that runs again may take so many seconds."""
    server = _server(store, listening, allowed, sys.argv, seconds)
    url = address(listening) + path
    with contextlib.suppress(ValueError):  # not in the main thread: the caller ends us
        signal.signal(signal.SIGTERM, _stop)
    print(f"Backstep is open at {url}\nPress Ctrl-C to stop it.", flush=True)
    if browser:
        threading.Thread(target=open_browser, args=(url,), daemon=True).start()
    sys.setswitchinterval(SWITCH)
    gc.freeze()  # what was imported stays: the collector need not look at it while others wait
    try:
        server.run()
    except (KeyboardInterrupt, SystemExit):
        pass  # waitress catches it while it waits; a signal between two waits arrives here
    finally:
        _close(server)
    print("\nBackstep has stopped.", flush=True)


def start(store: Store, listening: socket.socket, path: str = "/", allowed: Iterable[str] = ()) -> RunningServer:
    """Serves from a thread and returns at once."""
    server = _server(store, listening, allowed)
    thread = threading.Thread(target=server.run, daemon=True, name="backstep")
    thread.start()

    def close() -> None:  # first the threads that answer: at its end one wakes the loop by the trigger, which then goes
        server.task_dispatcher.shutdown()
        with contextlib.suppress(OSError):  # woken by another just now, the loop has closed it, and the trigger is gone
            server.trigger.pull_trigger(
                lambda: _close(server)
            )  # in its own thread: its loop ends with nothing left in it
        thread.join(timeout=5)

    return RunningServer(address(listening) + path, close)


def _close(server: Any) -> None:
    """Close the connections, and then the server: a thread that has its answer only now sees that nobody waits."""
    for channel in list(server.active_channels.values()):
        channel.handle_close()
    server.close()


def _server(
    store: Store, listening: socket.socket, allowed: Iterable[str], argv: Sequence[str] = (), seconds: float = 0
) -> Any:
    local = LocalServer(DroppedFiles(store.catalogue), seconds or SECONDS)
    started = Launch(argv, listening.getsockname()[0] in ANY_ADDRESS)
    return http_server(guarded(build(store, local=local, started=started), allowed), [listening])


def http_server(app: Application, sockets: Sequence[socket.socket], **more: Any) -> Any:
    """waitress with our settings, and `more` of its own, on listening sockets."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a queue of a few requests is no news
    dispatcher = Dispatcher()
    dispatcher.set_thread_count(THREADS)
    return waitress.server.create_server(
        app, _dispatcher=dispatcher, sockets=list(sockets), ident="Backstep", connection_limit=_connections(),
        channel_timeout=IDLE, cleanup_interval=IDLE // 3, asyncore_use_poll=True, recv_bytes=1 << 16,
        max_request_body_size=4 * MAX_BODY,  # up to there the app reads it, and says that it is too long
        **more,
    )  # fmt: skip


def turn(sockets: dict[int, Any], seconds: float) -> None:
    """Waits this long for data on a server's sockets, and takes it in."""
    waitress.server.wasyncore.loop(timeout=seconds, map=sockets, use_poll=True, count=1)


class Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]  # waitress has no types
    """A thread for each request that is being answered: those that wait for a scene do not hold up the others."""

    def __init__(self) -> None:
        super().__init__()
        self.growing = threading.Lock()

    def shutdown(self, cancel_pending: bool = True, timeout: float = 1) -> bool:
        """End the threads; one that is still computing an answer after `timeout` seconds ends with the process."""
        self.logger = SILENT  # that it is still at work is not a warning
        return bool(super().shutdown(cancel_pending, timeout))

    def add_task(self, task: Any) -> None:
        with self.growing:
            with self.lock:
                count = len(self.threads) - self.stop_count
                busy = len(self.queue) >= count - self.active_count
            if busy and count < MOST_THREADS:
                self.set_thread_count(count + 1)
        super().add_task(task)


def _connections() -> int:
    """The number of connections that may be open: the system's limit, up to CONNECTIONS."""
    if sys.platform == "win32":
        return SELECTABLE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = CONNECTIONS + SPARE
    if soft != resource.RLIM_INFINITY and soft < target:
        soft = target if hard == resource.RLIM_INFINITY else min(target, hard)
        with contextlib.suppress(OSError, ValueError):  # a system with a lower limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return CONNECTIONS if soft == resource.RLIM_INFINITY else max(64, min(CONNECTIONS, soft - SPARE))


def open_browser(url: str) -> None:
    try:
        webbrowser.open(url)
    except webbrowser.Error:
        log.info("no browser could be opened: open %s yourself", url)


def _stop(_number: int, _frame: object) -> None:
    raise SystemExit(0)
