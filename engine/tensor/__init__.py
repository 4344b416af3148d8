"""Tensors and the graph behind them: storage, views, versions, saved tensors, and op dispatch.
Nothing here imports the backward pass.
"""
