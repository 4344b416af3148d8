"""A program of the engine's as a program of PyTorch's: `import engine as torch` becomes `import torch`.

Only imports change, each in its place, so that lines and columns of all that runs stay what they are.
"""

from __future__ import annotations

import ast

ENGINE = "engine"
TORCH = "torch"


class _Imports(ast.NodeTransformer):
    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        """`import engine.nn.functional as F`; without `as`, the name that it binds is torch from then on."""
        imports: list[ast.stmt] = []
        for alias in node.names:
            top, dot, rest = alias.name.partition(".")
            if top != ENGINE:
                imports.append(ast.Import([alias]))
                continue
            imports.append(ast.Import([ast.alias(f"{TORCH}{dot}{rest}", alias.asname or (None if dot else ENGINE))]))
            if dot and alias.asname is None:
                imports.append(ast.Import([ast.alias(TORCH, ENGINE)]))
        return [ast.copy_location(one, node) for one in imports]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        """`from engine.nn import Linear`, `from backstep import engine as torch`."""
        top, dot, rest = (node.module or "").partition(".")
        if node.level or top not in (ENGINE, "backstep"):
            return [node]
        if top == ENGINE:
            return [ast.copy_location(ast.ImportFrom(f"{TORCH}{dot}{rest}", node.names, 0), node)]
        ours = [alias for alias in node.names if alias.name != ENGINE]
        imports: list[ast.stmt] = [
            ast.Import([ast.alias(TORCH, alias.asname or ENGINE)]) for alias in node.names if alias.name == ENGINE
        ]
        imports += [ast.ImportFrom(node.module, ours, 0)] if ours else []
        return [ast.copy_location(one, node) for one in imports]


def on_torch(text: str | bytes, filename: str = "<program>") -> ast.Module:
    """The program, parsed, with its imports of the engine as imports of PyTorch.  Raises SyntaxError as `compile` does.

    >>> print(ast.unparse(on_torch("import engine as torch; from engine.nn import Linear; import engine.optim")))
    import torch as torch
    from torch.nn import Linear
    import torch.optim
    import torch as engine
    >>> ast.unparse(on_torch("from backstep import engine as torch, record")).splitlines()
    ['import torch as torch', 'from backstep import record']
    """
    module: ast.Module = _Imports().visit(ast.parse(text, filename))
    return ast.fix_missing_locations(module)
