"""Differences, the modules as one script, components as HTML, and the edits that a lesson foresees."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import dash_mantine_components as dmc
import pytest
from dash import html
from hypothesis import given
from hypothesis import strategies as st

from viz.server.components.shell import shell
from viz.server.http.bundle import bundle
from viz.server.lesson.difference import LIST, OBJECT, PUT, Difference, difference
from viz.server.lesson.markup import COMPONENTS, markup

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=2)
JSON = st.recursive(SCALARS, lambda of: st.lists(of, max_size=4) | st.dictionaries(st.text(max_size=2), of, max_size=4))


def changed(old: Any, change: Difference) -> Any:
    """As assets/js/lesson/difference.mjs does it."""
    if change is None:
        return old
    kind, what, *more = change
    if kind == PUT:
        return what
    if kind == OBJECT:
        kept = {key: value for key, value in old.items() if key not in more[0]}
        return kept | {key: changed(old.get(key), one) for key, one in what.items()}
    assert kind == LIST
    made = [*old[:what], *[None] * (what - len(old))]
    for index, one in more[0].items():
        made[int(index)] = changed(made[int(index)], one)
    return made


@given(JSON, JSON)
def test_difference_makes_the_new_document_out_of_the_old_one(old: Any, new: Any) -> None:
    assert json.dumps(changed(old, difference(old, new)), sort_keys=True) == json.dumps(new, sort_keys=True)
    assert difference(new, new) is None


def test_modules_become_one_script(tmp_path: Path) -> None:
    (tmp_path / "a.mjs").write_text("export const ONE = 1;\nexport function two() { return 2; }\n")
    (tmp_path / "b.mjs").write_text(
        'import * as a from "./a.mjs";\nimport { two as zwei } from "./a.mjs";\nx(a.ONE, zwei());\n'
    )
    code = bundle(tmp_path / "b.mjs")
    assert code.index("return { ONE, two };") < code.index("const { two: zwei } = $m0;") < code.index("x(a.ONE")


@pytest.mark.parametrize(
    "line", ['import a from "./a.mjs";', "export default 1;", "export { a };", 'export * from "./a.mjs";']
)
def test_module_in_another_form_is_refused_by_name(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.mjs").write_text("")
    (tmp_path / "b.mjs").write_text(f"const a = 1;\n{line}\n")
    with pytest.raises(ValueError, match=r"b\.mjs: this line"):
        bundle(tmp_path / "b.mjs")


def test_modules_that_import_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mjs").write_text('import "./b.mjs";\n')
    (tmp_path / "b.mjs").write_text('import "./a.mjs";\n')
    with pytest.raises(ValueError, match=r"a\.mjs imports itself by way of b\.mjs"):
        bundle(tmp_path / "a.mjs")


def test_text_and_attributes_are_escaped() -> None:
    part = html.P(['</script><b a="1">', None, dmc.Button("<", id="a", disabled=True)], title='"><i>')
    said = markup(part)
    assert said.startswith('<p title="&quot;&gt;&lt;i&gt;">&lt;/script&gt;&lt;b a=&quot;1&quot;&gt;<button')
    assert said.endswith('id="a" disabled="">&lt;</button></p>')
    assert markup(part, {"a"}).endswith("&gt;</p>")


def test_every_component_of_the_page_is_known() -> None:
    """One that is not would be missing in a lesson: only stores, and what is mounted later, have no HTML."""
    found = {str(part["type"]) for part in _described(shell())}
    assert found - COMPONENTS.keys() == {"Store"}
    said = markup(shell())
    ids = re.findall(r' id="([^"]+)"', said)
    assert len(ids) == len(set(ids)) and {"stage", "timeline", "story", "code", "inspect-body"} <= set(ids)


def _described(part: Any) -> list[dict[str, Any]]:
    """The components of the libraries in a part of the page."""
    if isinstance(part, (list, tuple)):
        return [one for each in part for one in _described(each)]
    if not hasattr(part, "to_plotly_json"):
        return []
    described = part.to_plotly_json()
    own = [described] if described["namespace"] != "dash_html_components" else []
    return own + _described(described["props"].get("children"))
