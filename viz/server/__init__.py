"""The web app: programs, revisions, Dash's page and callbacks, request checks.
Only its folder `library` goes through the events of a trace.
"""
