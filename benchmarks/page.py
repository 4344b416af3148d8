"""The app in a process of its own and a Chromium beside it, as the browser tests have them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser.conftest import FLAGS, SETTLE, App

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 1440, 900
READY = "document.documentElement.dataset.ready && !document.documentElement.dataset.computing"


@contextmanager
def page(*argv: str) -> Iterator[tuple[Any, str]]:
    """(an empty page, the address of the app)."""
    from playwright.sync_api import sync_playwright  # only what needs a browser needs it

    app = App(*argv)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            made = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            made.set_default_timeout(SETTLE)
            print(f"Chromium {browser.version}, {WIDTH} x {HEIGHT}, {os.cpu_count()} cores\n")
            yield made, app.origin
            browser.close()
    finally:
        app.close()


def chromium() -> str | None:
    """The installed one; None lets Playwright take its own."""
    names = ("chromium-headless-shell", "chromium", "google-chrome", "chromium-browser")
    return os.environ.get("BACKSTEP_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def until(made: Any, condition: str) -> None:
    """Wait until a condition in the page holds; the page's own policy forbids Playwright's way, which is `eval`."""
    made.evaluate(f"""async () => {{
      const end = performance.now() + {SETTLE};
      while (!({condition})) {{
        if (performance.now() > end) throw new Error("waited in vain for " + {json.dumps(condition)});
        await new Promise(requestAnimationFrame);
      }}
    }}""")


def opened(made: Any, origin: str, program: str) -> None:
    """Open a program and wait until it is drawn."""
    made.goto(f"{origin}/?program={program}")
    until(made, READY)


def synthetic(nodes: int) -> str:
    """A scene of about that many nodes, from the generator of the JavaScript tests: as JSON, because a text reaches the
    page at once, and an object of 20 MB in minutes."""
    code = f"import('./tests/js/fixtures/synthetic.mjs').then(m => console.log(JSON.stringify(m.synthetic({nodes}))))"
    return subprocess.run(["node", "-e", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
