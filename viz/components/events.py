"""The table of all steps.  The grid keeps only the rows in view in the page, so long traces stay light."""

from __future__ import annotations

import dash_ag_grid as dag


def events_grid() -> dag.AgGrid:
    columns = [
        {"field": "step", "headerName": "#", "width": 52, "cellClass": "num"},
        {"field": "name", "headerName": "Step", "width": 128, "cellClass": "mono", "tooltipField": "name"},
        {"field": "line", "headerName": "Line", "width": 56, "cellClass": "num"},
        {"field": "say", "headerName": "What happens", "flex": 1, "minWidth": 90, "tooltipField": "say"},
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
        },
        className="ag-theme-backstep",
        style={"height": "100%", "width": "100%"},
    )
