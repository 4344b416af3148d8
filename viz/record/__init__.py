"""Running a script in a process of its own and recording it: `import torch` answered, and why nothing was recorded."""
