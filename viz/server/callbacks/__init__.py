"""The browser's requests: callbacks for details and long computations, and plain requests for everything else.
Nothing is computed here.
"""
