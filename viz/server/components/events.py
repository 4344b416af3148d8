"""The table of all steps.  The grid keeps only the rows in view in the page, so long traces stay light."""

from __future__ import annotations

import dash_ag_grid as dag


def events_grid() -> dag.AgGrid:
    columns = [
        {"field": "step", "headerName": "#", "width": 46, "cellClass": "num"},
        {
            "field": "text",  # its name and line, and below them what happens in words
            "headerName": "What happens",
            "flex": 1,
            "minWidth": 90,
            "wrapText": True,
            "autoHeight": True,
            "cellClass": "event",
        },
        {"field": "kind", "hide": True},
    ]
    return dag.AgGrid(
        id="events-grid",
        columnDefs=columns,
        rowData=[],
        defaultColDef={"sortable": False, "resizable": False, "suppressMovable": True},
        dashGridOptions={
            "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": False},
            "rowHeight": 30,
            "headerHeight": 32,
            "animateRows": False,
            "tooltipShowDelay": 400,
            "localeText": {"noRowsToShow": "No step here"},
            "includeHiddenColumnsInQuickFilter": True,
            "suppressHeaderFocus": True,
        },
        className="ag-theme-backstep",
        style={"height": "100%", "width": "100%"},
    )
