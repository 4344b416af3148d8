"""The recorder of the real torch: the ops and gradients of a program on its own torch, as events of a trace.
Nothing here imports the engine's tensors or its backward pass.
"""
