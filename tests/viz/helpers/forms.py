"""Whether a document has the form of the schema: no key missing, none too many, each value of its type."""

from __future__ import annotations

from pydantic import ConfigDict, TypeAdapter, ValidationError

from viz.schema.details import Details
from viz.schema.scene import Scene

STRICT = ConfigDict(extra="forbid", strict=True)
SCENES = TypeAdapter(list[Scene], config=STRICT)
"""Of a list, since a TypedDict by itself takes no settings."""
DETAILS = TypeAdapter(list[Details], config=STRICT)


def fault_of_scene(text: str) -> str:
    """The first faults of a scene, given as JSON; "" where it has none."""
    return _fault(SCENES, text)


def fault_of_details(text: str) -> str:
    """The same of the details of an element."""
    return _fault(DETAILS, text)


def _fault(form: TypeAdapter[list[Scene]] | TypeAdapter[list[Details]], text: str) -> str:
    try:
        form.validate_json(f"[{text}]")
    except ValidationError as error:
        return "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()[:3])
    return ""
