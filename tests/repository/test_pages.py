"""The promises of the pages: scripts print the output shown, commands start, the app has the quoted sentences."""

from __future__ import annotations

import contextlib
import doctest
import io
import shlex
import urllib.request
import warnings
from pathlib import Path
from typing import Any

import pytest

from docs.make import architecture, pages
from docs.make.screenshots import ANIMATION, PICTURES
from tests.browser.conftest import App
from tests.viz.helpers.pictures import scene
from viz.cli import main, parser
from viz.gallery import find
from viz.record.runner import RecordedRun, Script, run_script
from viz.run.prefix import MOST
from viz.server.revisions import StoreComputation
from viz.server.scripts import program_of
from viz.server.store import Catalogue, Store


def form_of(line: str) -> tuple[str, ...]:
    """The command and its flags, without the files that it is given."""
    arguments = shlex.split(line)
    command = parser().parse_args(arguments[1:]).command or ""
    return (command, *sorted(one for one in arguments if one.startswith("-")))


ROOT = Path(__file__).resolve().parents[2]
TEXTS = {path.relative_to(pages.HERE).as_posix(): path.read_text("utf-8") for path in pages.WRITTEN}
SCRIPTS = list(pages.every_script())
COMMANDS = [(page, line) for page, text in TEXTS.items() for line in pages.commands(text)]
KINDS = {form_of(line): (page, line) for page, line in reversed(COMMANDS)}
"""The first command of each kind: `backstep run` of one script starts as that of the next does."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_script_prints_and_raises_what_the_page_says(script: pages.Script) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # anomaly mode says that it is on, and where the op was called
        try:
            exec(compile(script.text, script.name, "exec"), {"__name__": "__main__"})
        except Exception as error:  # noqa: BLE001  # whichever it is, the page has to name it
            printed.write(f"{type(error).__name__}: {error}")
    assert printed.getvalue().strip() == script.says.strip()


@pytest.mark.parametrize("page", [name for name, text in TEXTS.items() if pages.prompts(text)])
def test_prompts_answer_what_the_page_says(page: str) -> None:
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(pages.prompts(TEXTS[page])):
        printed, raised = io.StringIO(), None
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(example.source, page, "single"), names)
            except Exception as error:  # noqa: BLE001  # whichever it is, the page has to name it
                raised = f"{type(error).__name__}: {error}"  # without the notes, which doctest would compare alone
        assert (printed.getvalue(), raised) == (example.want if not example.exc_msg else "", stripped(example.exc_msg))


def stripped(message: str | None) -> str | None:
    return message.strip() if message else None


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=[line for _, line in COMMANDS])
def test_command_can_be_typed_with_the_scripts_of_its_page(page: str, line: str) -> None:
    name, *arguments = shlex.split(line)
    assert name == "backstep"
    options = parser().parse_args(arguments)
    if options.command in ("run", "export"):
        file = options.script if options.command == "run" else options.file
        assert str(file) in [script.name for script in pages.scripts(TEXTS[page])]


@pytest.mark.parametrize(("page", "line"), KINDS.values(), ids=[line for _, line in KINDS.values()])
def test_command_starts_the_app_or_writes_its_file(
    page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = shlex.split(line)[1:]
    for script in pages.scripts(TEXTS[page]):
        (tmp_path / script.name).write_text(script.text, "utf-8")
    options = parser().parse_args(arguments)
    if options.command == "open":
        for file in options.files:
            recorded("lesson.py", tmp_path).trace_path.rename(tmp_path / file)
    if options.command in ("export", "new"):
        monkeypatch.chdir(tmp_path)
        written = options.output if options.command == "export" else options.file
        assert main(arguments) == 0 and written.stat().st_size > 0
        return
    if options.command == "course":
        (tmp_path / options.folder).mkdir()
        (tmp_path / "lesson.py").rename(tmp_path / options.folder / "lesson.py")
    app = App(*arguments, cwd=tmp_path)
    try:
        with urllib.request.urlopen(app.address) as answer:
            assert answer.status == 200
    finally:
        app.close()


@pytest.mark.parametrize("page", [name for name, text in TEXTS.items() if pages.steps(text)])
def test_sentences_of_steps_are_those_of_the_app(page: str, tmp_path: Path) -> None:
    names = [script.name for script in pages.scripts(TEXTS[page])]
    steps = (scene_of(names[0], tmp_path) if names else scene("weights"))["steps"]
    for promised in pages.steps(TEXTS[page]):
        assert (promised.of, promised.say) == (len(steps), steps[promised.number - 1]["say"])


def test_findings_that_the_page_about_nan_promises_are_the_chapters_of_the_app(tmp_path: Path) -> None:
    read = scene_of("lengths.py", tmp_path)
    promised = pages.quoted(TEXTS["howto/find-a-nan.md"])
    assert [chapter["title"] for chapter in read["program"]["chapters"]] == promised
    assert scene_of("lengths_safe.py", tmp_path)["findings"] == []


def test_change_that_the_page_about_retain_graph_offers_mends_the_script(tmp_path: Path) -> None:
    (first, second) = scene_of("losses.py", tmp_path)["error"]["fix"]["edits"]["commands"]
    assert (first["retain_graph"], second["retain_graph"]) == (True, False)


@pytest.mark.parametrize("page", TEXTS)
def test_programs_that_a_page_names_are_in_the_gallery(page: str) -> None:
    assert [name for name in pages.programs(TEXTS[page]) if find(name) is None] == []


def test_questions_in_the_explanation_are_those_of_their_programs() -> None:
    rows = [
        line for line in TEXTS["explanation/why-gradient-is-the-upstream-gradient.md"].splitlines() if "| `?" in line
    ]
    for line in rows:
        (name,) = pages.programs(line)
        program = find(name)
        assert program is not None and program.question == line.split("|")[1].strip()
    assert len(rows) > 5


def test_every_picture_is_made_by_the_script_and_shown_on_a_page() -> None:
    shown = pages.pictures((ROOT / "README.md").read_text("utf-8")).union(*map(pages.pictures, TEXTS.values()))
    written = {f"{name}.png" for name in PICTURES} | {ANIMATION}
    assert shown == written
    assert written | {architecture.PICTURE.name} == {path.name for path in pages.IMAGES.iterdir()}


def test_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in pages.IMAGES.iterdir()}
    assert sizes.pop(ANIMATION) < 1_000_000
    assert max(sizes.values()) < 200_000


def recorded(name: str, folder: Path) -> RecordedRun:
    """The recording of a script of the pages."""
    path = folder / name
    path.write_text(pages.script_named(name).text, "utf-8")
    return run_script(Script(path), folder / f"{name}.backstep")


def scene_of(name: str, folder: Path) -> Any:
    """The scene of a script of the pages, as the browser gets it."""
    program = program_of(Script(folder / name), recorded(name, folder), MOST, rerun=False)
    store = Store(Catalogue([program]), StoreComputation())
    return store.scene(store.revision(program.id, None), None, {}, "").json()
