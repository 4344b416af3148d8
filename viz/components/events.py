"""The table of all steps.  The grid keeps only the rows in view in the page, so long traces stay light."""

from __future__ import annotations

import dash_ag_grid as dag


def events_grid() -> dag.AgGrid:
    columns = [
        {"field": "step", "headerName": "#", "width": 62, "type": "rightAligned", "cellClass": "num"},
        {"field": "kind", "headerName": "Kind", "width": 92},
        {"field": "name", "headerName": "Name", "width": 140, "cellClass": "mono"},
        {"field": "line", "headerName": "Line", "width": 66, "type": "rightAligned", "cellClass": "num"},
        {"field": "say", "headerName": "What happens", "flex": 1, "minWidth": 220, "tooltipField": "say"},
    ]
    return dag.AgGrid(
        id="events-grid",
        columnDefs=columns,
        rowData=[],
        defaultColDef={"sortable": False, "resizable": True, "suppressMovable": True},
        dashGridOptions={
            "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": False},
            "rowHeight": 30,
            "headerHeight": 32,
            "animateRows": False,
            "getRowId": None,
            "tooltipShowDelay": 400,
            "overlayNoRowsTemplate": "No step matches the filter.",
        },
        className="ag-theme-backstep",
        style={"height": "100%", "width": "100%"},
    )
