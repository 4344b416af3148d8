"""The files in which a revision is saved: lessons and traces, and its graph and steps in formats of other programs.
No Dash here.
"""
