"""The server ends under an open page, and is started again at the same address."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import SETTLE, App, View, recording

DOUBLED = """
import engine as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = 2 * x
y.backward(torch.tensor([1.0, 0.5]))
"""
BREAK_OFF = """
const real = window.fetch;
window.breaks = 0;
window.fetch = async (address, ...rest) => {
  const answer = await real(address, ...rest);
  if (!window.breaks || !/_dash-update-component|scene$/.test(String(address))) return answer;
  window.breaks -= 1;
  const body = new ReadableStream({ start: (control) => control.error(new TypeError("network error")) });
  return new Response(body, { headers: answer.headers });
};
"""
"""Of the next answers to the page, `breaks` break off after their headers."""
ENDED = "Backstep has stopped. You can still step; start it again to edit."


@pytest.fixture
def opened(context: Any) -> Iterator[Callable[..., View]]:
    """A page that may log what the browser says of a server that is gone, and no exception but Dash's own for a script
    that was under way then."""
    wrong: list[str] = []

    def note(error: Any) -> None:
        if not error.message.startswith("Loading chunk"):
            wrong.append(f"{error.message}\n{error.stack}")

    def make(app: App, path: str) -> View:
        page = context.new_page()
        page.on("pageerror", note)
        view = View(page, app)
        page.goto(app.origin + path)
        view.until("document.documentElement.dataset.app")
        return view

    yield make
    assert wrong == []


def ended(view: View, text: str = ENDED) -> None:
    view.until(f"document.querySelector('#ended:not([hidden]) span').textContent === {text!r}")
    view.until("!document.documentElement.dataset.computing && document.getElementById('busy').hidden")


def double(view: View) -> None:
    view.js("backstep.edit({ leaf: 0, values: [3, 4] })")


def kept(view: View) -> Any:
    return view.js("[location.search, backstep.scene().revision.id, backstep.t(), backstep.selection()]")


@pytest.fixture
def serve(start: Callable[..., App]) -> Callable[..., App]:
    """Starts the app, again and again, at one address that no other server chooses by itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    return lambda *argv, **options: start(*argv[:1], "--port", port, *argv[1:], **options)


def kill(app: App) -> None:
    app.process.kill()
    app.process.wait(SETTLE)


def came_back(view: View) -> None:
    """As when one comes back to the page."""
    view.js("document.dispatchEvent(new Event('visibilitychange'))")


def test_server_ends_and_is_started_again_under_an_open_page(
    serve: Callable[..., App], opened: Callable[..., View], tmp_path: Path
) -> None:
    lesson, other = (str(recording(tmp_path / f"{name}.py", DOUBLED)) for name in ("lesson", "other"))
    server = serve("open", lesson)
    view = opened(server, "/")
    reconnect = view.page.get_by_role("button", name="Reconnect")

    # A program that could not be opened is asked for again.
    kill(server)
    view.page.locator("#gallery a[data-program=my-lesson]").click()
    ended(view, "Backstep has stopped. Start it again to go on.")
    server = serve("open", lesson)
    reconnect.click()
    view.until("document.documentElement.dataset.page === 'player' && backstep.scene().nodes.length")
    assert view.page.locator("#ended").is_hidden()

    # An edit at a server that was started again needs no reconnecting.
    kill(server)
    came_back(view)
    ended(view)
    asked, base = view.js("backstep.serverCalls()"), view.revision()
    server = serve("open", lesson)
    double(view)
    view.changed(base)
    view.until("document.getElementById('ended').hidden")
    assert view.js("backstep.serverCalls()") == asked + 1, "looking for the server is no question of the page"

    # That it ended is said at once, and the page goes on without it.
    edited = view.revision()
    view.seek(2)
    with view.page.expect_response("**/_dash-update-component*"):  # its details: what the step says has sections too
        view.js(f"backstep.select({view.node('y')!r})")
    view.until("location.search.includes('select') && location.search.includes('step=2')")
    view.until("document.querySelector('#inspect-body section')")
    before = kept(view)
    kill(server)
    for _ in range(2):  # the second one is asked too, and not taken for the first
        asked = view.js("backstep.serverCalls()") + 1
        view.page.keyboard.press("Control+z")
        view.until(f"backstep.serverCalls() === {asked}")
        ended(view)
    view.seek(1)
    view.seek(2)
    assert view.js("backstep.serverCalls()") == asked and kept(view) == before, "stepping goes on, and asks for nothing"
    reconnect.click()
    ended(view, "Backstep does not answer yet. Start it again at this address, then reconnect.")

    # Started again with another program, it is said so.
    server = serve("open", other)
    reconnect.click()
    view.page.wait_for_selector("#notice >> text=This program is not open here")
    view.page.get_by_role("button", name="Go back").click()
    assert view.row("x", "value") == [3, 4]
    kill(server)
    came_back(view)
    ended(view)

    # Started again with the same, it is asked for what is shown, and undoes the edit.
    server = serve("open", lesson)
    view.js("delete document.documentElement.dataset.ready")
    reconnect.click()
    view.ready()
    view.until("document.getElementById('ended').hidden")
    assert kept(view) == before
    view.page.keyboard.press("Control+z")
    view.changed(edited)
    assert view.row("x", "value") == [1, 2]


def test_question_that_failed_is_said_and_one_whose_answer_breaks_off_is_asked_again(
    opened: Callable[..., View], context: Any, app: App
) -> None:
    context.add_init_script(BREAK_OFF)
    view = opened(app, "/?program=weights")
    view.ready()
    before = view.revision()
    view.page.route("**/scene", lambda route: route.fulfill(status=500, body="no"), times=1)
    view.js("backstep.edit({ leaf: 0, values: [[1, 1, 1, 1]] })")
    said = "#toast >> text=Backstep could not answer"  # shown for seconds: the text stays there
    view.page.wait_for_selector(f"{said} (status 500)", state="attached")
    assert view.page.locator("#ended").is_hidden() and view.page.locator("#busy").is_hidden()
    assert view.revision() == before

    view.seek(2)
    view.js(f"(window.breaks = 1, backstep.select({view.node('z')!r}))")
    view.until("document.getElementById('inspect-body').innerText.includes('norm 10.95')")
    view.js("(window.breaks = 1, backstep.edit({ leaf: 0, values: [[3, 4, 5, 6]] }))")
    view.changed(before)
    edited = view.revision()
    view.js("(window.breaks = Infinity, backstep.edit({ leaf: 0, values: [[5, 6, 7, 8]] }))")
    view.page.wait_for_selector(f"{said} (Failed to fetch)", state="attached")
    view.js("(window.breaks = 0, backstep.edit({ leaf: 0, values: [[5, 6, 7, 8]] }))")
    view.changed(edited)
    assert view.row("x", "value") == [5, 6, 7, 8]
