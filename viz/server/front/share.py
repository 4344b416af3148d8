"""Sharing from a loopback address, which no other machine can open: the address in the network, and how to serve it."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from viz.server.store import Json

COMMANDS = ("run", "open", "course", "serve")
NOWHERE = "192.0.2.1", 9
"""An address for documentation (RFC 5737): finding a route to it sends nothing."""
QUIET = 4
"""The width of the quiet zone around a QR code, in modules (ISO/IEC 18004)."""


@dataclass(frozen=True)
class Launch:
    """The command line that started a server, if one did, and whether it listens on every address of the machine."""

    argv: Sequence[str] = ()
    everywhere: bool = False


def share(started: Launch, port: int, path: str, network: str | None) -> Json:
    """`{line, address, code}`: what to type, the address that others then open, and its QR code as a picture.

    The line is None if others can open the address already. All are None without a network, or if no command started
    us; the code also if the address is too long for one.
    """
    if network is None or not started.argv:
        return {"line": None, "address": None, "code": None}
    address = f"http://{network}:{port}{path}"
    typed = None if started.everywhere else line(started.argv[1:], network, port)
    return {"line": typed, "address": address, "code": qr(address)}


def line(argv: Sequence[str], host: str, port: int) -> str:
    """The command with these arguments, listening on another address.

    >>> line(["run", "--host", "localhost", "my net.py"], "10.0.0.2", 8050)
    "backstep run --host 10.0.0.2 --port 8050 'my net.py'"
    """
    command = [argv[0]] if argv and argv[0] in COMMANDS else []
    rest, words = [], iter(argv[len(command) :])
    for word in words:
        if word in ("--host", "--port"):
            next(words, None)
        elif not word.startswith(("--host=", "--port=")):
            rest.append(word)
            if command == ["run"] and not word.startswith("-"):
                break  # a script: what follows is its own
    parts = ["backstep", *command, "--host", host, "--port", str(port), *rest, *words]
    return subprocess.list2cmdline(parts) if os.name == "nt" else shlex.join(parts)


def qr(text: str) -> str | None:
    """The QR code of a text, as the `data:` address of an SVG; None if no code has room for it."""
    import segno

    try:
        code = segno.make(text, micro=False)
    except segno.DataOverflowError:
        return None
    address: str = code.svg_data_uri(scale=4, border=QUIET, dark="black", light="white")
    return address


def network() -> str | None:
    """The address of this machine in its network; None without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if address.startswith(("127.", "0.")) else address
