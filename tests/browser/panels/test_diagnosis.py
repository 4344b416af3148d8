"""Where a diagnosis stands, and what is in view of it and of the form of a call on a small screen."""

from __future__ import annotations

import pytest

from tests.browser.conftest import View

ENDS = "(backstep.scene().error?.step ?? Infinity) + 1 === backstep.t()"


@pytest.fixture(params=[720, 800])
def small(view: View, request: pytest.FixtureRequest) -> View:
    """A page of 1280 by 720, and one by 800: there the right panel slides over the graph, and is away at first."""
    view.page.set_viewport_size({"width": 1280, "height": request.param})
    return view


def seen(view: View, *selectors: str) -> list[bool]:
    """Whether each is in the right panel's part of the screen, whole."""
    box = "document.querySelector({!r}).getBoundingClientRect()"
    panel = box.format("#right .mantine-Tabs-panel:not([style*=none])")
    inside = "(([a, b]) => a.height > 0 && a.top >= b.top && a.bottom <= b.bottom && a.right <= innerWidth)"
    return [bool(view.js(f"{inside}([{box.format(one)}, {panel}])")) for one in selectors]


def without_retain_graph(view: View) -> None:
    """Opens the form of the first call of `weights`, and takes its retain_graph away."""
    view.tab("Commands")
    view.page.locator("#command-list .command").first.click()
    view.page.wait_for_selector("#command-grid .ag-cell")
    view.page.get_by_role("switch", name="retain_graph").click()
    view.until(ENDS)


def test_inputs_and_grid_of_a_call_are_in_view_together(small: View) -> None:
    small.open("?program=weights&step=0")
    small.page.locator("#act-panel").click()
    small.tab("Commands")
    small.page.locator("#command-list .command").first.click()
    small.page.wait_for_selector("#command-grid .ag-cell")
    small.until("document.querySelector('#command-form h2').getBoundingClientRect().bottom < innerHeight / 2")
    field = ".mantine-MultiSelect-root .mantine-Input-wrapper"
    assert seen(small, "#command-title", field, "#command-grid-place") == [True, True, True]


def test_error_is_explained_in_the_inspector_which_comes_with_it_and_nowhere_else(view: View) -> None:
    view.open("?program=weights&step=0")
    without_retain_graph(view)
    view.until("document.querySelector('#inspect .error').checkVisibility()")
    error = view.js("backstep.scene().error")
    assert error["fix"]["text"][:30] in view.page.locator("#inspect .error").inner_text()
    beside = view.js("document.getElementById('story').textContent + document.getElementById('commands').textContent")
    assert error["why"][:30] not in beside and error["fix"]["text"][:30] not in beside
    assert view.page.locator("#story .chapter:not(.behind) [data-turn=fix]").is_visible()
    view.tab("Commands")
    told = view.page.locator("#command-error")
    assert told.inner_text().split() == [error["type"], "Show", "where"]
    view.seek(0)
    told.locator("button").click()
    view.until("document.querySelector('#inspect .error').checkVisibility()")
    assert view.state()["nodes"][error["node"]]["state"] == "error"


def test_inspector_comes_to_whoever_steps_to_the_error(small: View) -> None:
    small.open("?program=second_backward&step=0")
    small.js("document.documentElement.dataset.right === 'open' && document.getElementById('act-panel').click()")
    small.end()
    small.until("document.documentElement.dataset.right === 'open'")
    small.until("document.querySelector('#inspect .error').checkVisibility()")


def test_error_and_its_remedy_are_in_view_together_and_the_whole_message_is_folded_away(small: View) -> None:
    small.open("?program=weights&step=0")
    small.page.locator("#act-panel").click()
    without_retain_graph(small)
    small.until("document.querySelector('#inspect .error').checkVisibility()")
    assert seen(small, ".error-type", ".error-message", ".error-fix", "#inspect .error [data-do=fix]") == [True] * 4
    whole = small.page.locator("#inspect .error details .error-message")
    assert not whole.is_visible()
    small.page.locator("#inspect .error summary").click()
    assert whole.inner_text() == small.js("backstep.scene().error.message")


def test_graph_is_whole_beside_the_inspector_once_its_error_is_fixed(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 720})
    view.open("?program=not_scalar")
    view.end()
    view.until("document.querySelector('#inspect .error [data-do=fix]').checkVisibility()")
    view.page.locator("#inspect .error [data-do=fix]").click()
    view.until(
        """!backstep.scene().error && (({ left, right }) => backstep.scene().nodes.every(({ id }) => {
          const { x, width } = backstep.screenPos(id);
          return x - width / 2 >= left && x + width / 2 <= right;
        }))(document.getElementById('stage').getBoundingClientRect())"""
    )
