"""However Backstep is installed, the command starts and the browser gets every one of its files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from viz.server.http.static import Assets

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "assets").rglob("*") if path.is_file())
ASSETS = Assets(ROOT / "assets")
START = 60
"""Seconds in which the command must have said where it is open."""


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command that must succeed."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(sdist, wheel); the wheel is built from the sdist, so that a file missing there is missing here too."""
    made = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", made, ROOT, cwd=made)
    (sdist,), (wheel,) = made.glob("*.tar.gz"), made.glob("*.whl")
    return sdist, wheel


class Environment:
    """A virtual environment of its own, which sees the dependencies of the one that tests run in, behind its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        self.scripts = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.scripts / ("python.exe" if os.name == "nt" else "python")
        (self.packages / "dependencies.pth").write_text("\n".join(self.borrowed()), "utf-8")

    @property
    def packages(self) -> Path:
        """Where it installs to."""
        found = next(self.folder.rglob("site-packages"))
        assert isinstance(found, Path)
        return found

    @staticmethod
    def borrowed() -> list[str]:
        """The folders with the dependencies; a .pth file in them (an editable install) is not read from here."""
        return list({sysconfig.get_path(name) for name in ("purelib", "platlib")})

    def install(self, *what: str | Path) -> None:
        """Install without the network: the dependencies are there."""
        run(
            sys.executable, "-m", "pip", "--python", self.python, "install", "--no-deps", "--no-index",
            "--no-build-isolation", "--no-compile", "--ignore-installed", *what, cwd=self.folder,
        )  # fmt: skip

    def assets(self) -> Path:
        """Where an installed Backstep finds the browser's files."""
        code = "from viz.server.http.static import assets_folder; print(assets_folder())"
        return Path(run(self.python, "-I", "-c", code, cwd=self.folder).strip())

    @contextmanager
    def served(self) -> Iterator[str]:
        """The address at which the installed command is open."""
        command = [str(self.scripts / "backstep"), "--no-browser"]
        env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(command, cwd=self.folder, env=env, text=True, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                found = next((m for line in process.stdout if (m := re.search(r"http://[^/\s]+", line))), None)
                assert found is not None, "the command ended without an address"
                yield found[0]
            finally:
                process.terminate()


def fetched(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=START) as answer:
        body = answer.read()
    assert isinstance(body, bytes)
    return body


def assert_works(environment: Environment) -> None:
    """The command serves its page and each file as the checkout does; programs can `import backstep`."""
    code = "import backstep; print(backstep.record.__name__, 'engine' in __import__('sys').modules)"
    assert run(environment.python, "-I", "-c", code, cwd=environment.folder).split() == ["record", "False"]
    with environment.served() as origin:
        assert b"Backstep" in fetched(f"{origin}/")
        for name in ASSETS.names():
            file = ASSETS.find(f"/assets/{name}")
            assert file is not None and fetched(f"{origin}/assets/{name}") == file[0].content, name


def test_wheel_has_the_packages_their_data_and_the_assets(distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[1]) as wheel:
        names = wheel.namelist()
    assert {f"viz/{name}" for name in FILES} <= set(names)
    files = {p.relative_to(ROOT).as_posix() for top in ("engine", "viz") for p in (ROOT / top).rglob("*.py")}
    expected = {name.removeprefix("viz/public/") for name in files} | {"backstep/py.typed"}
    data = (*(ROOT / "viz" / "gallery").rglob("*.toml"), *(ROOT / "viz" / "server").rglob("*.html"))
    expected |= {p.relative_to(ROOT).as_posix() for p in data}
    assert expected <= set(names)
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"backstep", "engine", "viz"}


def test_wheel_installed_serves_every_asset(distributions: tuple[Path, Path], tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv")
    environment.install(distributions[1])
    assert environment.assets() == environment.packages / "viz" / "assets"
    assert_works(environment)


def test_sdist_installs_the_files_of_the_wheel(distributions: tuple[Path, Path], tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv")
    environment.install(distributions[0])
    assert environment.assets() == environment.packages / "viz" / "assets"
    with zipfile.ZipFile(distributions[1]) as wheel:
        for name in wheel.namelist():
            if ".dist-info/" not in name:
                assert (environment.packages / name).read_bytes() == wheel.read(name), name


def test_editable_install_serves_the_assets_of_the_checkout(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv")
    environment.install("-e", ROOT)
    assert environment.assets() == ROOT / "assets"
    assert not (environment.packages / "viz").exists()  # no copy that could grow old
    assert_works(environment)
