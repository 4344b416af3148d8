"""The web app: programs, revisions, Dash's page and callbacks, request checks.  It does not read events."""
