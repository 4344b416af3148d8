"""One document per revision with everything the browser plays (docs/scene-format.md), and details on request.
No Dash here, and no server.
"""
