"""Running and recording a script in its own process: `import torch` answered, missing recordings explained.
Nothing here imports the scene.
"""
