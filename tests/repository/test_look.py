"""The visual language: one place for colours and sizes of text, contrast that is read, meanings that stay apart."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

from tests.batches import batches

ROOT = Path(__file__).resolve().parents[2]
THEME = ROOT / "assets" / "css" / "theme.css"
LITERAL = re.compile(
    r"#[0-9a-fA-F]{3,8}\b(?![\w(-])|\b(?:rgba?|hsla?|oklch|oklab)\(|:\s*(?:white|black|red|gr[ae]y|orange)\b"
)
SIZE = re.compile(r"font(?:-size)?:[^;{}]*?(?<![/\d.])\b\d+(?:\.\d+)?px|\b(?:fontSize|font_size)\b\W+\d")
DISTANCE = re.compile(r"(?<![\w-])(?:padding|margin|gap|row-gap|column-gap)(?:-\w+)?: ([^;{}]+)")
GROUNDS = ("bg", "panel", "field")
READ = ("ink", "soft", "forward", "gradient", "leaf", "root", "error", "warning", "freed", "changed", "negative")
TINTED = ("forward", "gradient", "leaf", "root", "error", "warning", "changed")
MEANINGS = ("forward", "gradient", "leaf", "root", "saved", "error", "changed")

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHTS = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
}
APART = 0.07
"""Least distance of two meanings in OKLab, in each sight: a just noticeable difference is about 0.02."""


def themes() -> dict[str, dict[str, str]]:
    """Tokens by theme; the dark one has all that it does not change from the light one."""
    light, dark = (
        dict(re.findall(r"--([\w-]+):\s*([^;]+);", part))
        for part in re.split(r'\[data-theme="dark"\]', THEME.read_text())
    )
    return {"light": light, "dark": light | dark}


def linear(colour: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2: 1 for equal colours, 21 for black on white.

    >>> round(contrast("#000000", "#ffffff"), 1)
    21.0
    """
    light = [sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (one, other)]
    return (max(light) + 0.05) / (min(light) + 0.05)


def oklab(r: float, g: float, b: float) -> tuple[float, float, float]:
    """Björn Ottosson's OKLab of a linear RGB colour."""
    l, m, s = (  # noqa: E741  # the three cones by their usual letters
        max(x, 0) ** (1 / 3)
        for x in (
            0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
            0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
            0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
        )
    )
    return (
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    )


def distance(one: str, other: str, sight: str) -> float:
    seen = [
        oklab(*(sum(w * c for w, c in zip(row, linear(x), strict=True)) for row in SIGHTS[sight])) for x in (one, other)
    ]
    return float(sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5)


def sources() -> list[Path]:
    styles = [one for one in (ROOT / "assets" / "css").glob("*.css") if one != THEME]
    modules = [*(ROOT / "assets").rglob("*.mjs"), *(ROOT / "assets").rglob("*.js")]
    server = ROOT / "viz" / "server"
    pages = [*(server / "components").glob("*.py"), *(server / "front").glob("*.html"), server / "app.py"]
    return sorted([*styles, *modules, *pages])


@batches("file", sources(), lambda file: str(file.name))
def test_colours_and_sizes_of_text_are_tokens(file: Path) -> None:
    text = re.sub(r'url\("data:[^"]*"\)', "", file.read_text())  # an icon's mask has a shape and no colour
    found = [m[0] for m in (*LITERAL.finditer(text), *SIZE.finditer(text))]
    assert found == [], f"{file.name}: name a token of theme.css"


def test_tokens_that_are_used_are_defined() -> None:
    known = set(themes()["light"]) | {"icon"}
    for file in sources():
        used = set(re.findall(r"var\(--([\w-]+)|token\(\"--([\w-]+)", file.read_text()))
        names = {name for pair in used for name in pair if name}
        own = set(re.findall(r"--([\w-]+):", file.read_text()))
        placed = {name for name in names if name.endswith("-set")}  # sizes that the panels set
        assert names - known - own - placed == set(), file.name


def test_canvases_read_tokens_that_are_defined() -> None:
    text = (ROOT / "assets" / "js" / "paint" / "theme.mjs").read_text()
    names = re.findall(r'"([\w-]+)"', text[text.index("NAMES") : text.index("];")])
    assert set(names) <= set(themes()["light"])
    read = {re.sub(r"-(\w)", lambda m: m[1].upper(), name) for name in names} | {"size"}
    for file in (ROOT / "assets" / "js").rglob("*.mjs"):
        used = set(re.findall(r"\btokens\.(\w+)", file.read_text()))
        assert used <= read, file.name


def test_distances_keep_the_rhythm() -> None:
    for name in ("app", "front", "stage"):
        file = ROOT / "assets" / "css" / f"{name}.css"
        for values in DISTANCE.findall(file.read_text()):
            for px in re.findall(r"(?<![\w.])(\d+(?:\.\d+)?)px", values):
                assert float(px) % 4 == 0 or float(px) in (1, 2, 6), f"{file.name}: {values}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_of_aa_on_every_ground(theme: str) -> None:
    tokens = themes()[theme]
    poor = [(name, on) for name in READ for on in GROUNDS if contrast(tokens[name], tokens[on]) < 4.5]
    poor += [(name, f"{name}-tint") for name in TINTED if contrast(tokens[name], tokens[f"{name}-tint"]) < 4.5]
    poor += [("soft", f"{name}-tint") for name in TINTED if contrast(tokens["soft"], tokens[f"{name}-tint"]) < 4.5]
    poor += [
        ("on-gradient", on) for on in ("gradient", "gradient-over") if contrast(tokens["on-gradient"], tokens[on]) < 4.5
    ]
    poor += [
        ("panel", name) for name in ("root", "forward", "ink", "error") if contrast(tokens["panel"], tokens[name]) < 4.5
    ]
    poor += [("ink", "gradient-full")] if contrast(tokens["ink"], tokens["gradient-full"]) < 4.5 else []
    share = re.search(
        r"\.sum-line\.on \{ background: color-mix\(in srgb, var\(--gradient\) (\d+)%",
        (ROOT / "assets" / "css" / "app.css").read_text(),
    )
    assert share is not None
    chosen = mixed(tokens["gradient"], tokens["field"], int(share[1]) / 100)  # the line of the step in a ledger
    poor += [(name, "chosen") for name in ("ink", "error", "gradient") if contrast(tokens[name], chosen) < 4.5]
    assert poor == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_quiet_is_read_at_three_to_one(theme: str) -> None:
    """The ink and the colours of numbers at one opacity over the background of the graph, as the painter draws them."""
    tokens = themes()[theme]
    found = re.search(r"const QUIET = ([\d.]+)", (ROOT / "assets" / "js" / "paint" / "paint.mjs").read_text())
    assert found is not None
    share = float(found[1])
    grounds = {on: mixed(tokens[on], tokens["bg"], share) for on in ("panel", "field")}
    for name in ("ink", "gradient", "root"):
        for on, ground in grounds.items():
            assert contrast(mixed(tokens[name], ground, share), ground) >= 3, f"{name} on {on}"


def mixed(over: str, under: str, share: float) -> str:
    """A colour over another one at an opacity.

    >>> mixed("#ffffff", "#000000", 0.5)
    '#808080'
    """
    pairs = [(int(over[i : i + 2], 16), int(under[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_that_say_something_have_three_to_one(theme: str) -> None:
    tokens = themes()[theme]
    for name in ("saved", "edge", "focus", *MEANINGS):
        for on in GROUNDS:
            assert contrast(tokens[name], tokens[on]) >= 3, f"{name} on {on}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_not_there_yet_has_outlines_of_three_to_one(theme: str) -> None:
    """On the graph, and around its own paler ground; tests/js/paint/canvas.test.mjs holds its full strength."""
    tokens = themes()[theme]
    painter = (ROOT / "assets" / "js" / "paint" / "paint.mjs").read_text()
    share = re.search(r"const QUIET = ([\d.]+)", painter)
    own = re.search(r"const own = .*", painter)
    assert share is not None and own is not None
    colours = re.findall(r"tokens\.(\w+)", own[0])
    assert {"leaf", "root"} < set(colours)
    for name in colours:
        for ground in (tokens["bg"], mixed(tokens["panel"], tokens["bg"], float(share[1])), tokens["field"]):
            assert contrast(tokens[name], ground) >= 3, f"{name} on {ground}"


@pytest.mark.parametrize("sight", list(SIGHTS))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_meanings_stay_apart(theme: str, sight: str) -> None:
    tokens = themes()[theme]
    near = {
        pair: round(distance(tokens[pair[0]], tokens[pair[1]], sight), 3)
        for pair in (*combinations(MEANINGS, 2), ("positive", "negative"))
        if distance(tokens[pair[0]], tokens[pair[1]], sight) < APART
    }
    assert near == {}


def test_scale_of_text_starts_at_twelve() -> None:
    sizes = [int(value[:-2]) for name, value in themes()["light"].items() if name.startswith("text-")]
    assert sizes == sorted(sizes) and sizes[0] == 12


def test_icon_has_the_colour_of_the_gradient() -> None:
    assert themes()["light"]["gradient"] in (ROOT / "assets" / "icon.svg").read_text()


def test_every_token_is_explained() -> None:
    text = (ROOT / "docs" / "design.md").read_text()
    assert [name for name in themes()["light"] if f"`--{name}`" not in text] == []
