"""Properties of components that the page reports to its own modules."""

from __future__ import annotations

HEARD = (
    ("details", "data", "details"),
    ("made-scene", "data", "madeScene"),
    ("made-file", "data", "madeFile"),
    ("tabs", "value", "tab"),
    ("run-figure", "clickData", "runClicked"),
    ("events-filter", "value", "eventsFilter"),
    ("events-grid", "cellClicked", "eventClicked"),
    ("events-grid", "virtualRowData", "eventsReady"),
    ("command-root", "value", "commandRoot"),
    ("command-retain", "checked", "commandRetain"),
    ("command-create", "checked", "commandCreate"),
    ("command-inputs", "value", "commandInputs"),
    ("command-grid", "cellValueChanged", "commandCell"),
    ("command-grid", "cellClicked", "commandClicked"),
)
"""(component, property, function in the namespace `backstepHears` of the window)."""
