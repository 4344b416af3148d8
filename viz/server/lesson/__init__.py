"""The page as one HTML file that needs no server: its modules, its markup, and the answers it may ask for.
No Dash here.
"""
