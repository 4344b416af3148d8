"""The functions that users call: they take torch's arguments, call the ops, and raise torch's errors.
Nothing here imports the backward pass.
"""
