"""The command line: what it refuses, and that it starts, tells its address and ends cleanly."""

from __future__ import annotations

import importlib.metadata
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import viz
from engine.namespaces.version import OF_TORCH, OWN
from viz import cli
from viz.server import server

ROOT = Path(__file__).resolve().parents[2]


def test_parser_takes_serving_options_before_and_behind_the_subcommand() -> None:
    parse = cli.parser().parse_args
    assert parse(["--port", "9000", "open", "f"]).port == 9000
    assert parse(["open", "--port", "9000", "f"]).port == 9000
    assert parse(["open", "f"]).port is None and parse(["open", "f"]).host == "127.0.0.1"
    assert parse(["--allow-host", "a", "--allow-host", "b"]).allow_host == ["a", "b"]


def test_parser_leaves_the_scripts_own_arguments_alone() -> None:
    options = cli.parser().parse_args(["run", "--as-torch", "train.py", "--port", "1", "--epochs", "2"])
    assert options.as_torch and options.args == ["--port", "1", "--epochs", "2"] and options.port is None


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["run", "no-such.py"], "There is no script"),
        (["run"], "as in `backstep run train.py`"),
        (["record"], "as in `backstep record train.py`"),
        (["record", "-m"], "as in `backstep record -m my.training`"),
        (["run", "-m", "no.such"], "There is no module 'no'"),
        (["run", "-m", "viz.server"], "'viz.server' is a package without a __main__.py"),
        (["run", "-m", "sys"], "'sys' is not a Python file"),
        (["run", "-m", "math"], "'math' is not a Python file"),
        (["record", "-o", "no/such/run.backstep", __file__], "There is no folder 'no/such'"),
        (["record", __file__, "-o", "no/such/run.backstep"], "There is no folder 'no/such'"),
        (["record", "-o", __file__, __file__], "exists and is not a trace"),
        (["open", "no-such.trace"], "There is no file"),
        (["--allow-host", "*", "--no-browser"], "not a host name"),
        (["--host", "no.such.host.invalid", "--no-browser"], "backstep:"),
    ],
)
def test_main_refuses_in_words_with_status_2(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(argv) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("torch", "words"), [("2.13.0+cpu", "PyTorch 2.13.0+cpu is installed"), (None, "PyTorch is not installed")]
)
def test_version_names_backstep_and_both_pytorches(
    torch: str | None, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def version(name: str) -> str:
        if torch is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return torch

    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"backstep {OWN}: its engine follows PyTorch {OF_TORCH}; {words}\n"


@pytest.mark.parametrize("port", ["0", "70000", "x"])
def test_parser_refuses_what_is_no_port(port: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.parser().parse_args(["--port", port])
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["train.py"], "as in `backstep run train.py`"),
        (["--no-browser", "run.backstep"], "as in `backstep open run.backstep`"),
        (["open"], "the following arguments are required: file\n"),
        (["--frobnicate"], "unrecognized arguments: --frobnicate"),
    ],
)
def test_parser_says_what_to_type_instead(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.parser().parse_args(argv)
    assert stopped.value.code == 2 and words in capsys.readouterr().err


def test_bind_takes_the_next_free_port_and_keeps_to_one_that_was_asked_for() -> None:
    with server.bind("127.0.0.1", None) as first, server.bind("127.0.0.1", None) as second:
        taken = first.getsockname()[1]
        assert taken != second.getsockname()[1]
        with pytest.raises(server.PortInUse, match="in use"):
            server.bind("127.0.0.1", taken)


def test_address_is_one_that_a_browser_here_can_open() -> None:
    with server.bind("0.0.0.0", None) as listening:  # noqa: S104  # the case in question, closed at once
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", server.address(listening))
    if socket.has_ipv6:
        try:
            with server.bind("::1", None) as listening:
                assert server.address(listening).startswith("http://[::1]:")
        except server.PortInUse:
            pass  # no IPv6 loopback on this machine


def run(*argv: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "viz", "--no-browser", *argv], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_command_serves_until_it_is_interrupted_and_ends_without_a_traceback(sent: signal.Signals) -> None:
    process = run()
    try:
        assert process.stdout is not None
        url = re.search(r"http://\S+", process.stdout.readline())
        assert url is not None
        with urllib.request.urlopen(url[0], timeout=20) as answer:
            assert answer.status == 200
        process.send_signal(sent)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0 and "Backstep has stopped" in out and "Traceback" not in err


def test_command_says_that_its_port_is_taken() -> None:
    with server.bind("127.0.0.1", None) as listening:
        process = run("--port", str(listening.getsockname()[1]))
        _, err = process.communicate(timeout=30)
    assert process.returncode == 2 and "is in use" in err and "Traceback" not in err


def test_help_loads_neither_dash_nor_the_engine() -> None:
    heavy = "{'dash', 'numpy', 'flask'}"
    code = f"import sys, viz.cli; viz.cli.parser().format_help(); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("command", "name", "content", "said"),
    [
        ("open", "short.backstep", b"SQLite format 3", "is not a trace"),
        ("open", "text.backstep", b"hello\n", "is not a trace"),
        ("open", "empty.backstep", b"", "is empty"),
        ("open", "net.py", b"pass\n", "record it with `backstep run"),
        ("open", "model.pt", b"PK\3\4 and more", "is a zip archive, such as torch.save() writes"),
        ("run", "net.backstep", b"", "open it with `backstep open"),
        ("run", "train.ipynb", b"{}", "is a notebook"),
        ("record", "train.ipynb", b"{}", "jupyter nbconvert --to script"),
    ],
)
def test_a_path_that_does_not_fit_the_command_is_refused_with_the_way_on(
    command: str, name: str, content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert cli.main([command, str(path)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "open"])
def test_a_folder_and_a_missing_file_are_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([command, str(tmp_path)]) == 2 and "is a folder" in capsys.readouterr().err
    assert cli.main([command, str(tmp_path / "none.py")]) == 2 and "There is no" in capsys.readouterr().err


RECORD = """
import engine, viz
with engine.record() as trace:
    x = engine.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
"""


def python(*argv: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *argv], text=True, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)


def test_show_in_a_script_serves_until_ctrl_c_and_the_script_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "lesson.py"
    script.write_text(RECORD + "viz.show(trace, 'my lesson', browser=False)\nprint('after')\n")
    process = python(str(script))
    try:
        assert process.stdout is not None
        url = re.search(r"http://\S+", process.stdout.readline())
        assert url is not None and "program=my-my-lesson" in url[0]
        with urllib.request.urlopen(url[0], timeout=20) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0 and out.endswith("after\n") and "Traceback" not in err


def test_show_at_a_prompt_returns_at_once_and_a_second_one_joins_the_page() -> None:
    process = python("-i", "-q")
    typed = RECORD.strip() + (
        "\n\na = viz.show(trace, 'one', browser=False)\nb = viz.show(trace, 'two', browser=False)\n"
        "import urllib.request\nprint('status', urllib.request.urlopen(a.url).status)\nprint(a.url, b.url)\n"
        "a.close(); print('open', a.is_open, b.is_open)\n"
    )
    out, err = process.communicate(typed, timeout=60)
    assert process.returncode == 0 and "Traceback" not in err
    assert "status 200" in out and "open False False" in out
    one, two = re.findall(r"http://\S+", out.splitlines()[-2])
    assert one.split("/?")[0] == two.split("/?")[0] and one.endswith("my-one") and two.endswith("my-two")


def test_show_of_something_else_says_what_a_trace_is() -> None:
    with pytest.raises(TypeError, match=r"expected a trace, found list.*backstep\.record"):
        viz.show([])  # type: ignore[arg-type]  # the mistake in question


@pytest.mark.parametrize(("given", "wanted"), [({}, None), ({"OMP_NUM_THREADS": "3"}, "3")])
def test_products_leave_a_core_to_the_recording(given: dict[str, str], wanted: str | None, tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        "import os\nprint('cores', os.environ.get('OPENBLAS_NUM_THREADS'), os.environ.get('OMP_NUM_THREADS'))\n"
    )
    own = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    code = (
        "from viz import cli; cli.main(['open', 'none']); from pathlib import Path; from viz.record import runner; "
        f"runner.run_script(runner.Script(Path({str(tmp_path / 's.py')!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, env=own | given, capture_output=True, text=True)
    most = max(1, (os.cpu_count() or 1) - 1)
    assert f"cores {None if wanted else most} {wanted}" in done.stdout
