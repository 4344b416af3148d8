"""Programs of another library: edits of them computed by the engine, and the engine's programs run on PyTorch.
No Dash here.
"""
