"""Lessons in the comments of a script, from their text to the chapters of a scene."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.trace.events import Trace
from viz import cli
from viz.gallery import comments
from viz.record import runner
from viz.scene.scene import scene
from viz.server import programs
from viz.server.lesson import course
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

LOOP = '''"""Two rounds."""
import engine as torch

# # not a chapter
# ## Begin
# One
# line.
#
# Another paragraph with `code`.
# > Say hello.
# > And wait.

w = torch.tensor(1.0, requires_grad=True)  # ## not a chapter either
y = 3 * w

# ## Round
for step in range(2):
    # a comment of the program
    z = y * w
    z.backward(retain_graph=True)

# ## End
# ? Which number
# ? is it?
# - 6
# + 12
# - or neither
# = Twice,
# = Really.
# ! w = 2.0
print(w.grad)
'''


def recorded(source: str, folder: Path, name: str = "loop.py") -> Trace:
    path = folder / name
    path.write_text(source)
    return programs.record_source(source, path)


def test_a_lesson_is_read_as_it_is_written() -> None:
    lesson = comments.read(LOOP)
    assert lesson is not None and lesson.title == "Two rounds"
    begin, again, end = lesson.parts
    assert begin.text == ["One", "line.", "", "Another paragraph with `code`."]
    assert begin.notes == ["Say hello.", "And wait."] and begin.ask is None
    lines = LOOP.splitlines()
    assert [lines[part.first - 1] for part in lesson.parts] == [
        "w = torch.tensor(1.0, requires_grad=True)  # ## not a chapter either",
        "for step in range(2):", "print(w.grad)",
    ]  # fmt: skip
    assert [lines[part.last - 1].strip() for part in lesson.parts] == [
        "y = 3 * w", "z.backward(retain_graph=True)", "print(w.grad)",
    ]  # fmt: skip
    assert end.ask == {
        "text": "Which number is it?",
        "choices": [
            {"text": "6", "right": False},
            {"text": "12", "right": True},
            {"text": "or neither", "right": False},
        ],
        "why": "Twice,\nReally.",
    }
    assert again.ask is None and end.tries == ["w = 2.0"] and end.text == []


def test_chapters_lead_to_the_last_step_of_their_lines(tmp_path: Path) -> None:
    made = scene(recorded(LOOP, tmp_path))
    begin, again, end = comments.chapters(made)
    assert begin["step"] == 1 and again["step"] == len(made["steps"]) and end["step"] is None
    assert begin["lines"] == (13, 14) and begin["notes"] == "Say hello.\nAnd wait."
    assert again["select"] == [made["steps"][-1]["at"]] and end["ask"]["choices"][1]["right"]
    assert comments.chapters(scene(recorded("import engine\nengine.ones(1) * 2\n", tmp_path, "plain.py"))) == []


def test_a_chapter_in_a_loop_ends_before_the_next_one_begins(tmp_path: Path) -> None:
    source = LOOP.replace("    z.backward", "    # in the loop\n# ## Backward\n    z.backward")
    made = scene(recorded(source, tmp_path))
    steps = [chapter["step"] for chapter in comments.chapters(made)]
    assert steps[:3] == [1, 2, len(made["steps"])]


def test_new_lesson_runs_and_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "double.py"
    assert cli.main(["new", str(path)]) == 0 and "backstep run --watch" in capsys.readouterr().out
    assert cli.main(["new", str(path)]) == 2 and "exists" in capsys.readouterr().err
    (program,) = course.course(tmp_path)
    store = Store(Catalogue([program]), StoreComputation())
    document = store.scene(store.revision(program.id, None), None, {}, "").json()
    assert document["program"]["title"] == "What the seed gradient chooses"
    assert [chapter["step"] for chapter in document["program"]["chapters"]] == [1, 3]
    assert document["program"]["chapters"][1]["ask"]["choices"][1] == {"text": "2 0", "right": True}


def test_new_lesson_is_a_python_file_with_or_without_its_ending(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["new", str(tmp_path / "my lesson")]) == 0
    assert (tmp_path / "my lesson.py").read_text("utf-8") == course.SKELETON
    assert f"backstep run --watch '{tmp_path}/my lesson.py'" in capsys.readouterr().out
    assert cli.main(["new", str(tmp_path / "lesson.ipynb")]) == 2 and "lesson.py" in capsys.readouterr().err
    assert cli.main(["new", str(tmp_path / "none" / "lesson.py")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_course_is_a_folder_of_lessons_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "week-1"
    folder.mkdir()
    with pytest.raises(FileNotFoundError, match="no lesson"):
        course.course(folder)
    for name in ("b.py", "a.py"):
        course.write(folder / name)
    (folder / "helper.py").write_text("import os\n")
    programs.record_source(course.SKELETON, folder / "a.py").save(str(folder / "c.backstep"))
    found = course.course(folder)
    assert [program.id for program in found] == ["my-a", "my-b", "my-c"]
    assert {tuple(program.about["crumbs"][:2]) for program in found} == {("Gallery", "Week 1")}
    assert cli.main(["course", str(tmp_path / "no")]) == 2


def test_slow_script_of_a_course_is_not_said_to_end_with_a_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "LONG", 0.0)
    course.write(tmp_path / "a.py")
    course.course(tmp_path)[0].record()
    course.record_course(tmp_path, tmp_path)
    said = "backstep: a.py is still running. Its lesson can be opened when it has ended.\n"
    assert capfd.readouterr().err == 2 * said


def test_lessons_of_a_course_whose_names_differ_in_punctuation_are_all_there(tmp_path: Path) -> None:
    for name in ("a b.py", "a-b.py", "a-b-2.py"):
        course.write(tmp_path / name)
    found = course.course(tmp_path)
    assert [program.id for program in found] == ["my-a-b", "my-a-b-2", "my-a-b-3"]  # a b, a-b-2, a-b
    for program in found:
        (alone,) = course.course(tmp_path, only=program.id)
        assert alone.about == program.about


def test_files_of_the_same_name_are_opened_together_and_told_apart_by_their_folders(tmp_path: Path) -> None:
    files = [tmp_path / folder / "train.backstep" for folder in ("first", "second")]
    for file in files:
        file.parent.mkdir()
        programs.record_source("import engine as torch\ntorch.ones(2)\n", file.with_suffix(".py")).save(str(file))
    catalogue = Catalogue()
    catalogue.add_together(programs.from_files(files))
    assert [(program.id, program.about["title"]) for program in catalogue.programs()] == [
        ("my-train", "first/train.backstep"),
        ("my-train-2", "second/train.backstep"),
    ]


def test_script_that_is_recorded_beside_it_does_not_run_until_it_changes(tmp_path: Path) -> None:
    folder, recordings = tmp_path / "lessons", tmp_path / "recordings"
    folder.mkdir()
    recordings.mkdir()
    script = folder / "a.py"
    script.write_text(course.SKELETON)
    programs.record_source(course.SKELETON, script).save(str(folder / "a.backstep"))
    course.record_course(folder, recordings)
    (program,) = course.course(folder, recordings)
    assert list(recordings.iterdir()) == [] and program.file is not None and len(program.about["chapters"]) == 2
    script.write_text(course.SKELETON.replace("2 * x", "3 * x"))
    course.record_course(folder, recordings)
    (program,) = course.course(folder, recordings)
    assert [path.name for path in recordings.iterdir()] == ["a.backstep"] and program.file is None
    (folder / "a.backstep").write_text("no trace")
    assert [program.id for program in course.course(folder)] == ["my-a"]


def test_long_run_has_no_chapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = recorded(LOOP, tmp_path)
    assert programs.from_trace(trace).chapters is comments.chapters
    monkeypatch.setattr(programs, "HEAVY", 3)
    assert programs.from_trace(trace).chapters is None
