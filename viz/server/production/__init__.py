"""Serving a class: worker processes that share nothing but files, and bounds on what a visitor may ask.

What is said to one person on one machine is in the folder around; nothing there knows of this one.
"""
