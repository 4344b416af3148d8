"""The claims of the README: its Python runs, its keys exist, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import backstep

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
TEXTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_python_in_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    shown: list[object] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(backstep, "show", shown.append)
    exec(compile(code, "<readme>", "exec"), {"__name__": "__main__"})
    expected = re.findall(r"print\(x\.grad\)\s+# (.*)", code)
    assert capsys.readouterr().out.splitlines()[:1] == expected
    assert (tmp_path / "run.backstep").stat().st_size > 0
    assert len(shown) == 1


def test_keys_in_the_readme_are_keys_of_the_app() -> None:
    known = (ROOT / "assets" / "js" / "app" / "keys.mjs").read_text("utf-8").encode().decode("unicode_escape", "ignore")
    table = README.split("### Keys")[1].split("\n## ")[0]
    names = set(re.findall(r"<kbd>(.)</kbd>", table)) & set("NFCLWASDMKIT[]0?<>+")
    assert len(names) > 14
    assert {name for name in names if f'"{name}"' not in known} == set()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text("utf-8"))
    missing = [link for link in links if not (path.parent / link).exists()]
    assert missing == []
