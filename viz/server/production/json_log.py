"""The log of a server for many: one JSON object per line, for requests and for messages, on the standard output."""

from __future__ import annotations

import datetime
import json
import logging
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from gunicorn.glogging import Logger

from viz.server.http.security import Application, StartResponse

log = logging.getLogger("backstep.requests")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON.

    >>> record = logging.LogRecord("backstep", logging.INFO, "", 0, "a worker %s", ("started",), None)
    >>> json.loads(JsonFormatter().format(record))["text"]
    'a worker started'
    """

    def format(self, record: logging.LogRecord) -> str:
        about = {
            "time": datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "worker": record.process,
        }
        request = getattr(record, "request", None)
        fields: dict[str, Any] = dict(request) if isinstance(request, Mapping) else {"text": record.getMessage()}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps({**about, **fields})


class JsonLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's logger, which writes lines of JSON; its own settings of formats have no effect."""

    def setup(self, cfg: Any) -> None:
        self.cfg = cfg
        handler = logging.StreamHandler(sys.stdout)
        handler.setFormatter(JsonFormatter())
        for logger in (self.error_log, logging.getLogger("backstep"), logging.getLogger("waitress")):
            logger.handlers[:] = [handler]
            logger.propagate = False
            logger.setLevel(logging.INFO)

    def reopen_files(self) -> None:
        """Nothing is to be opened again: all goes to the standard output."""

    def close_on_exec(self) -> None:
        """Likewise."""


class RequestLog:
    """WSGI middleware that writes a line for each request: its path, without what a visitor typed, and its answer."""

    def __init__(self, app: Application) -> None:
        self.app = app

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        started_at, seen = time.perf_counter(), {"status": 0}

        def start(status: str, *rest: Any) -> Any:
            seen["status"] = int(status.split()[0])
            return start_response(status, *rest)

        body = self.app(environ, start)
        about = {
            "method": environ.get("REQUEST_METHOD"),
            "path": environ.get("PATH_INFO"),
            **seen,
            "ms": round((time.perf_counter() - started_at) * 1e3, 1),
            "client": environ.get("REMOTE_ADDR"),
        }
        log.info("request", extra={"request": about})
        return body
