"""Search in the graph: by keyboard alone, without the player or the server noticing, also into folded groups."""

from __future__ import annotations

from tests.browser.conftest import View

FOUND = "[...document.querySelectorAll('.bs-found li')]"
OPEN = "!document.querySelector('.bs-find').hidden"
ACTIVE = "document.getElementById(document.querySelector('.bs-find-field').getAttribute('aria-activedescendant'))"


def look(view: View, query: str, address: str = "?program=rnn_twenty&step=3") -> None:
    view.open(address)
    view.page.keyboard.press("/")
    view.until(f"{OPEN} && document.activeElement.matches('.bs-find-field')")
    view.page.keyboard.type(query)


def test_slash_opens_and_letters_list_what_fits_first(view: View) -> None:
    look(view, "loss")
    label = view.node("loss")
    assert view.js(f"{FOUND}[0].querySelector('b').textContent") == "loss"
    assert view.js("backstep.state().lit") == label
    assert view.js(f"{ACTIVE}.getAttribute('aria-selected')") == "true"
    assert view.js("document.getElementById('live').textContent") == view.js(f"{FOUND}.length + ' found'")


def test_what_is_typed_does_not_reach_the_player(view: View) -> None:
    look(view, "for t")
    for key in ("Space", "ArrowLeft", "ArrowRight", "Home", "End", "Shift+ArrowRight", "?", "k"):
        view.page.keyboard.press(key)
    assert view.js("[backstep.t(), backstep.playing()]") == [3, False]
    assert view.js("document.querySelector('.bs-help[open]')") is None


def test_arrows_light_and_enter_selects_without_asking_the_server_for_a_picture(view: View) -> None:
    look(view, "sum")
    before = view.js("backstep.serverCalls()")
    first = view.js("backstep.state().lit")
    view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("ArrowUp")
    assert view.js("[backstep.state().lit, backstep.serverCalls(), backstep.selection()]") == [first, before, None]
    view.page.keyboard.press("Enter")
    assert view.js(f"[{OPEN}, backstep.state().lit, backstep.selection()]") == [False, None, first]
    assert view.js(f"backstep.screenPos({first!r}).visible && document.activeElement.id") == "stage"


def test_the_arrows_bring_into_view_beside_the_list_and_escape_undoes_that(view: View) -> None:
    look(view, "loss", "?program=rnn_twenty&step=0")
    view.js("document.querySelector('.bs-tools [data-tool=plus]').focus()")  # the focus goes on: the search closes
    assert view.js(OPEN) is False
    before = view.js("backstep.state().camera")
    view.page.keyboard.press("/")
    view.page.keyboard.press("ArrowDown")
    view.until("backstep.screenPos(backstep.state().lit).visible")
    edges = view.js(
        "(() => { const { x, width } = backstep.screenPos(backstep.state().lit); "
        "return [x + width / 2, document.querySelector('.bs-find').getBoundingClientRect().left]; })()"
    )
    assert edges[0] < edges[1]
    view.page.keyboard.press("Escape")
    assert view.js("[backstep.state().lit, backstep.selection()]") == [None, None]
    assert view.js("backstep.state().camera") == before
    assert view.js("document.activeElement.dataset.tool") == "plus"


def test_an_element_of_a_folded_group_is_unfolded_and_selected(view: View) -> None:
    look(view, "tanh", "?program=rnn_twenty&step=0")
    view.page.keyboard.press("ArrowDown")
    group = view.js("backstep.state().lit")
    assert view.js(f"backstep.scene().folded.includes({group!r})")
    view.page.keyboard.press("Enter")
    view.until("backstep.selection() !== null && !document.documentElement.dataset.computing")
    chosen = view.js("backstep.scene().nodes.find(n => n.id === backstep.selection())")
    assert (chosen["label"], chosen["group"]) == ("tanh", group)
    assert view.js("backstep.screenPos(backstep.selection()).visible")


def test_a_click_does_the_same_as_enter(view: View) -> None:
    look(view, "float32 leaf", "?program=weights")
    view.page.locator(".bs-found li").first.click()
    assert view.js("backstep.selection()") == view.node("x") and view.js(OPEN) is False


def test_empty_states_teach_with_examples_that_find_something(view: View) -> None:
    look(view, "", "?program=log_of_softmax")
    texts = view.js("[...document.querySelectorAll('.bs-find-note button')].map(one => one.textContent)")
    assert {"scores", "1×3", "[1, 3]", "float32", "leaf", "nan"} <= set(texts)
    for text in texts:
        view.page.locator(".bs-find-field").fill("")
        view.page.locator(".bs-find-note").get_by_role("button", name=text, exact=True).click()
        assert view.js(f"{FOUND}.length") > 0, text
    view.page.locator(".bs-find-field").fill("zzz")
    assert "zzz" in view.page.locator(".bs-find-note").inner_text()
    assert view.js("document.getElementById('live').textContent") == "Nothing found"


def test_the_list_stays_on_a_low_stage(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 720})
    look(view, "1x2")
    ends = "['.bs-find', '#stage'].map(one => document.querySelector(one).getBoundingClientRect().bottom)"
    low, stage = view.js(ends)
    assert low <= stage and view.js(f"{FOUND}.length") >= 5
    assert view.js("(e => e.scrollHeight <= e.clientHeight)(document.querySelector('.bs-find'))")
