"""Serving a class: worker processes that share only files, or Redis, and bounds on what a visitor may ask.

The server for one person on one machine is in the folder above; nothing there imports this one.
"""
