"""What a lesson holds: compared with what the server answers."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viz.server import programs
from viz.server.lesson.page import lesson
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

from ...helpers.traces import recorded
from .test_parts import changed

MOST = 1_500_000


@pytest.fixture(scope="module")
def store() -> Store:
    return Store(Catalogue(programs.gallery_programs()), StoreComputation())


def held(page: str, what: str = "data") -> str:
    found = re.search(rf'<script type="application/gzip" id="lesson-{what}">([^<]*)</script>', page)
    assert found is not None
    return gzip.decompress(base64.b64decode(found[1])).decode()


def test_lesson_has_every_answer_as_the_server_gives_it(store: Store) -> None:
    page = lesson(store, "not_scalar")
    assert len(page) <= MOST
    data = json.loads(held(page))
    assert list(data["programs"]) == ["not_scalar", "not_scalar_fixed"]
    for name, program in data["programs"].items():
        section = program["sections"][""]
        replays = [one for one in section["edited"] if "revision" in one]
        assert len(replays) >= 3
        for one in replays:
            revision = store.revision(name, one["edits"])
            scene = named(store.scene(revision, None, {}, "").json())
            assert changed(section["base"], one["scene"]) == scene
            for element, change in section["changed"][revision.id].items():
                details = changed(section["details"].get(element), change)
                assert details == store.details(revision, element).json()


def test_lesson_says_nothing_of_what_was_opened_together_with_it(store: Store) -> None:
    catalogue = Catalogue([])
    program = catalogue.add_together([store.catalogue.find(name) for name in ("weights", "matrix_product")])
    own = Store(catalogue, StoreComputation())
    assert own.scene(own.revision(program.id, None), None, {}, "").json()["program"]["beside"]
    section = json.loads(held(lesson(own, program.id)))["programs"][program.id]["sections"][""]
    assert "beside" not in section["base"]["program"]


def test_every_one_hot_gradient_and_flag_of_a_call_is_foreseen(store: Store) -> None:
    section = json.loads(held(lesson(store, "matrix_product")))["programs"]["matrix_product"]["sections"][""]
    base = section["base"]
    call = next(one for one in base["commands"] if one["kind"] == "backward")
    rows, cols = base["values"][call["gradient"]]["shape"]
    changes = [spec for one in section["edited"] for spec in one["edits"]["commands"] if spec["id"] == call["id"]]
    hot = [[[int((r, c) == at) for c in range(cols)] for r in range(rows)] for at in np.ndindex(rows, cols)]
    assert all(gradient in [spec["gradient"] for spec in changes] for gradient in hot)
    assert {(spec["retain_graph"], spec["create_graph"]) for spec in changes} >= {
        (False, False),
        (True, False),
        (True, True),
    }


def named(scene: Any) -> Any:
    for file in scene["program"]["files"]:
        file["name"] = Path(file["name"]).name
    return scene


def test_lesson_holds_the_fix_and_the_edits_on_the_screen(store: Store) -> None:
    edits = {"leaves": {"0": [3.0, 2.0, 1.0]}, "commands": None}
    section = json.loads(held(lesson(store, "not_scalar", [edits])))["programs"]["not_scalar"]["sections"][""]
    fix = section["base"]["error"]["fix"]["edits"]
    assert [one["edits"] for one in section["edited"]][:2] == [edits, fix]


LOOP = """import engine as torch
weight = torch.ones(4, requires_grad=True)
for step in range(36):
    loss = ((weight * torch.arange(4.0) - 1) ** 2).sum()
    loss.backward(torch.tensor(1.0))
    if step == 35:
        raise ValueError("stop")
"""


def test_lesson_of_a_run_opens_where_one_looks_and_has_its_edits_before_other_iterations(tmp_path: Path) -> None:
    store = Store(Catalogue([programs.from_trace(recorded(LOOP, tmp_path), "loop")]), StoreComputation())
    edits = {"leaves": {"0": [3.0, 2.0, 1.0, 0.0]}, "commands": None}
    (looked,) = json.loads(held(lesson(store, "my-loop", [edits], 7)))["programs"].values()
    first = looked["sections"]["7"]
    assert looked["opens"] == 7 and first["base"]["section"]["label"] == "step = 7"
    assert first["edited"][0]["edits"] == edits and "revision" in first["edited"][0] and len(first["edited"]) > 3
    assert len(looked["sections"]) == first["base"]["section"]["count"]
    for number in (6, 8):
        near = looked["sections"][str(number)]
        assert sum("revision" in one for one in near["edited"]) > 3
        one = next(one for one in near["edited"] if "revision" in one)
        scene = named(store.scene(store.revision("my-loop", one["edits"], section=number), None, {}, "").json())
        assert changed(near["base"], one["scene"]) == scene
    (failed,) = json.loads(held(lesson(store, "my-loop")))["programs"].values()
    count = failed["sections"][str(failed["opens"])]["base"]["section"]["count"]
    assert failed["opens"] == count - 1 and len(failed["sections"]) == count


def test_largest_lesson_of_the_gallery_fits_and_names_no_folder_of_this_machine(store: Store) -> None:
    page = lesson(store, "jacobian")  # of 142 programs, with their fixed forms; the next one has 860 kB
    assert len(page) <= MOST
    assert str(Path(__file__).parents[4]) not in held(page)


def test_nothing_in_a_program_can_leave_its_place_in_the_page(tmp_path: Path) -> None:
    source = (
        "import engine\n# </script><script>alert(1)</script>\nengine.ones(1, requires_grad=True).sum().backward()\n"
    )
    path = tmp_path / "a.py"
    path.write_text(source)
    trace = programs.record_source(source, path)
    title = "</title><script>alert(1)</script>"
    store = Store(Catalogue([programs.from_trace(trace, title)]), StoreComputation())
    page = lesson(store, store.catalogue.programs()[0].id)
    (program,) = json.loads(held(page))["programs"].values()
    assert program["sections"][""]["base"]["program"]["files"] == [{"name": "a.py", "text": source}]
    assert "alert(1)" not in page.replace("&lt;script&gt;alert(1)", "")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None and "connect-src" not in policy[1] and "default-src 'none'" in policy[1]
    inline = [held(page, "code"), *re.findall(r"<script>(.*?)</script>", page, re.DOTALL)]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    assert len(inline) == 3 and all(f"'sha256-{one}'" in policy[1] for one in hashes)
    assert not re.search(r'(?:src|href)="(?!data:|/|#)', page)
