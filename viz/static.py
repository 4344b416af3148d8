"""Where the browser's files are: in `viz/assets` of an installed wheel, beside the packages in a checkout."""

from __future__ import annotations

from pathlib import Path

_MARK = "viz.mjs"


def assets_folder() -> Path:
    """The absolute path of the assets.  Raises FileNotFoundError with the remedy where an installation lacks them."""
    here = Path(__file__).resolve().parent
    places = (here / "assets", here.parent / "assets")
    for place in places:
        if (place / _MARK).is_file():
            return place
    raise FileNotFoundError(
        f"Backstep's browser files are missing: expected {_MARK} in {places[0]} or {places[1]}. "
        "The installation is incomplete; install the distribution `backstep` again."
    )
