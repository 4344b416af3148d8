"""The app on a socket: programs, revisions, Dash's page and callbacks, the guard.  Events are not read here."""
