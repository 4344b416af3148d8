"""From positions in code to lines, columns, texts and the names that results are bound to.

`Places` serves the recording: it turns (code object, last instruction) into `Frame`s and collects the text of the
user's own files.  `Sources` reads those texts again, of any trace: which variable a result is bound to, the text of a
call.  Both use the same parsed `File`.
"""

from __future__ import annotations

import ast
import functools
import io
import linecache
import os
import threading
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType

from .events import Frame

METHODS: set[str] = set()
"""The names of the methods of tensors: nothing here imports these, so `engine/__init__` enters them."""

Span = tuple[int, int, int, int]
"""Line, end line (from 1), column, end column (in characters, from 0)."""

COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


_parsing = threading.Lock()


MOST_PARSED = 2**19
"""Characters of a file that is parsed, some 13,000 lines; of a longer one only the lines are known. To parse 8 MiB
takes a minute and gigabytes."""


def syntax_tree(text: str) -> ast.Module:
    """`ast.parse`, by one thread at a time: by two it may end in a SystemError (CPython's issue 106905).

    Raises SyntaxError, RecursionError, and ValueError where the text is too long, or nested too deeply for the parser.
    """
    if len(text) > MOST_PARSED:
        raise ValueError(f"more than {MOST_PARSED:,} characters are not parsed")
    try:
        with _parsing:
            return ast.parse(text)
    except MemoryError as error:
        raise ValueError("nested too deeply to be parsed") from error


MOST_KEPT = 2**16
"""Characters of a file that stays parsed for the next trace of the same program, some 1,600 lines."""


def file_of(text: str) -> File:
    """The file with a text: that of an earlier trace, where the text is the same and not too long to keep."""
    return _file_by_text(text) if len(text) <= MOST_KEPT else File(text)


class File:
    """One user file, parsed once.  A text that does not parse has lines but no expressions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines()

    @functools.cached_property
    def above(self) -> dict[ast.AST, ast.AST]:
        """The node above each node of the syntax tree; outer nodes come first."""
        try:
            tree = syntax_tree(self.text)
        except (SyntaxError, ValueError, RecursionError):
            return {}
        parents: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [tree]
        for node in waiting:
            for below in ast.iter_child_nodes(node):
                parents[below] = node
                waiting.append(below)
        return parents

    @functools.cached_property
    def nodes(self) -> dict[Span, ast.AST]:
        """The expression (or statement that runs code of its own) at a span, as the interpreter reports it."""
        result: dict[Span, ast.AST] = {}
        statements: dict[Span, ast.AST] = {}
        for node in self.above:
            if isinstance(node, ast.expr):
                result.setdefault(self.span(node), node)
                for span in self._chained(node):
                    result.setdefault(span, node)
            elif isinstance(node, ast.stmt):
                statements.setdefault(self.span(node), node)
        return statements | result

    @functools.cached_property
    def modules(self) -> frozenset[str]:
        """The names of the engine in this file: `torch` after `import engine as torch`."""
        names = set()
        for node in self.above:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                origin = getattr(node, "module", None)
                for name in node.names:
                    if (origin or name.name).split(".")[0] in ("engine", "torch"):
                        names.add(name.asname or name.name.split(".")[0])
        return frozenset(names)

    def span(self, node: ast.AST) -> Span:
        """The span of a node, in characters."""
        assert isinstance(node, (ast.expr, ast.stmt))
        end_line, end_col = node.end_lineno or node.lineno, node.end_col_offset or 0
        return node.lineno, end_line, self.column(node.lineno, node.col_offset), self.column(end_line, end_col)

    def column(self, line: int, offset: int) -> int:
        """A column in characters for one in bytes of UTF-8."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return offset if text.isascii() else len(text.encode("utf-8")[:offset].decode("utf-8", "ignore"))

    def _chained(self, node: ast.expr) -> Iterator[Span]:
        """The position that the interpreter reports for an attribute or method on a later line than the beginning of
        its object."""
        attribute = node.func if isinstance(node, ast.Call) else node
        if isinstance(attribute, ast.Attribute) and attribute.lineno != attribute.end_lineno:
            end = attribute.end_lineno or attribute.lineno
            _, last, _, stop = self.span(node)
            yield end, last, self.column(end, (attribute.end_col_offset or 0) - len(attribute.attr.encode())), stop

    def settled(self, span: Span) -> Span:
        """The span of the whole expression that runs, the same for every version of Python.

        A loop's iteration is its iterable, a branch's decision its test, a method in a chain the chain up to it.
        """
        node = self.nodes.get(span)
        if isinstance(node, (ast.For, ast.AsyncFor)):
            node = node.iter
        elif isinstance(node, (ast.If, ast.While, ast.Assert)):
            node = node.test
        return span if node is None else self.span(node)

    def cut(self, span: Span) -> str:
        """The text between two positions."""
        line, end_line, col, end_col = span
        lines = self.lines[line - 1 : end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][:end_col]
        lines[0] = lines[0][col:]
        return "\n".join(lines)

    def text_of(self, node: ast.AST) -> str:
        """The text of a node on one line."""
        return collapse(self.cut(self.span(node)))


_file_by_text = functools.lru_cache(maxsize=8)(File)


def collapse(text: str) -> str:
    """An expression on one line, without comments.

    >>> collapse("z.backward([[1, 0]],  # one-hot\\n           retain_graph=True)")
    'z.backward([[1, 0]], retain_graph=True)'
    """
    if "\n" not in text:
        return text
    pieces: list[str] = []
    row, col = 2, 0
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"(\n{text}\n)").readline):
            if token.type in skipped or token.start[0] == 1 or token.end[0] == text.count("\n") + 3:
                continue
            if token.start[0] == row:
                pieces.append(" " * (token.start[1] - col) if pieces else "")
            elif pieces and pieces[-1][-1:] not in "([{" and token.string not in ")]}" and token.string[0] != ".":
                pieces.append(" ")
            pieces.append(token.string)
            row, col = token.end
    except (tokenize.TokenError, SyntaxError):
        return " ".join(text.split())
    return "".join(pieces).strip().replace("\n", " ")


class Places:
    """Positions of running code as frames, with the text of their files.  Files are named relative to `root`, the
    script's folder (by default that of the outermost frame seen first); files elsewhere by their own folder and name,
    so that no home folder is revealed.
    """

    def __init__(self, root: str | None = None) -> None:
        self.root = None if root is None else os.path.abspath(root)
        self._names: dict[str, str] = {}
        self._files: dict[str, File] = {}
        # By identity, and kept alive: code objects of two files with the same text are equal.
        self._spans: dict[int, tuple[CodeType, list[tuple[int | None, ...]]]] = {}
        self._frames: dict[tuple[int, int], Frame] = {}

    @property
    def files(self) -> dict[str, str]:
        """The text of each file with a frame, by its name in frames."""
        return {name: file.text for name, file in self._files.items()}

    def stack(self, key: Sequence[int], codes: Mapping[int, CodeType]) -> tuple[Frame, ...]:
        """Frames, outermost first, for a recorded stack: pairs (id of the code, last instruction), innermost first."""
        pairs = [(codes[key[i]], key[i + 1]) for i in range(0, len(key), 2)][::-1]
        if self.root is None and pairs:
            name = pairs[0][0].co_filename
            self.root = os.getcwd() if name.startswith("<") else os.path.dirname(os.path.abspath(name))
        return tuple(self.frame(code, last) for code, last in pairs)

    def frame(self, code: CodeType, last: int) -> Frame:
        """The place of the instruction `last` (`f_lasti`) of a code object."""
        frame = self._frames.get((id(code), last))
        if frame is None:
            frame = self._frames[id(code), last] = self._frame(code, last)
        return frame

    def _frame(self, code: CodeType, last: int) -> Frame:
        name = self.add(code.co_filename)
        file = self._files[name]
        if id(code) not in self._spans:
            self._spans[id(code)] = code, list(code.co_positions())
        spans = self._spans[id(code)][1]
        place = max(last, 0) // 2
        line, end_line, col, end_col = spans[place] if place < len(spans) else (None,) * 4
        line = line or code.co_firstlineno
        if end_line is None or col is None or end_col is None:  # python -X no_debug_ranges
            text = file.lines[line - 1] if 0 < line <= len(file.lines) else ""
            span = (line, line, len(text) - len(text.lstrip()), len(text.rstrip()))
        else:
            span = file.settled((line, end_line, file.column(line, col), file.column(end_line, end_col)))
        return Frame(name, code.co_qualname, *span)

    def add(self, filename: str) -> str:
        """Read the text of a file; returns its name in frames."""
        name = self._names.get(filename)
        if name is None:
            name = self._name_of(filename)
            stem, ending = os.path.splitext(name)
            number = 2
            while name in self._files:
                name, number = f"{stem} ({number}){ending}", number + 1
            self._names[filename] = name
            self._files[name] = file_of("".join(linecache.getlines(filename)))
        return name

    def stripped(self, text: str) -> str:
        """A text (a traceback, a message) without the folders of this machine: files have their names in frames."""
        for filename, name in sorted(self._names.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(filename, name)
        ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        for folder, name in ((self.root, ""), (ours, ""), (os.path.expanduser("~"), "~/")):
            if folder and len(folder) > 1:
                text = text.replace(folder.rstrip(os.sep) + os.sep, name)
        return text

    def _name_of(self, filename: str) -> str:
        if filename.startswith("<"):
            return filename
        path = os.path.abspath(filename)
        root = self.root or os.getcwd()
        if path.startswith(root.rstrip(os.sep) + os.sep):
            return os.path.relpath(path, root).replace(os.sep, "/")
        return "/".join(path.split(os.sep)[-2:])


class Sources:
    """The texts of a trace, with look-ups by frame."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._texts = files
        self._files: dict[str, File] = {}

    def file(self, name: str) -> File:
        """The parsed file of that name; an empty one if the trace has none."""
        if name not in self._files:
            self._files[name] = file_of(self._texts.get(name, ""))
        return self._files[name]

    def node(self, frame: Frame) -> ast.AST | None:
        """The syntax-tree node exactly at a frame."""
        return self.file(frame.file).nodes.get((frame.line, frame.end_line, frame.col, frame.end_col))

    def call_text(self, frame: Frame) -> str:
        """The expression at a frame on one line, as it is written.

        >>> Sources({"a.py": "z = 2 *  x"}).call_text(Frame("a.py", "<module>", 1, 1, 4, 10))
        '2 *  x'
        """
        return collapse(self.file(frame.file).cut((frame.line, frame.end_line, frame.col, frame.end_col)))

    def operands(self, frame: Frame) -> tuple[str, ...]:
        """The names that the expression at a frame reads directly: of `2 * x` that is `x`, of `torch.dot(a, h[t])` `a`
        and `h[t]`; numbers and inner expressions are left out.  They name tensors from before the recording.

        The object of a method is read only if tensors have the method: `x` of `x.sum()`, but not `trainer` of
        `trainer.train()`, in which a library runs ops on its tensors.
        """
        file, node = self.file(frame.file), self.node(frame)
        parts: list[ast.AST] = []
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
                parts += [node.func.value] if first_name(node.func) not in file.modules else []
            parts += [*node.args, *(k.value for k in node.keywords)]
        elif isinstance(node, ast.Compare):
            parts += [node.left, *node.comparators]
        elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Attribute, ast.Subscript)):
            fields = ("left", "right", "operand", "target", "value")
            parts += [part for f in fields if isinstance(part := getattr(node, f, None), ast.AST)]
        flat = [e for n in parts for e in (n.elts if isinstance(n, (ast.List, ast.Tuple)) else [n])]
        return tuple(file.text_of(n) for n in flat if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript)))

    def argument_name(self, outer: Frame, inner: Frame, name: str) -> str | None:
        """Write the argument that the call at `outer` passes as the parameter `name` of the function that `inner` is
        in: `images` of `net(images)` for the `x` of `forward(self, x)`; None if that is not certain.

        Between two frames a library may have called something else, as `trainer.fit(net)` does. So the call is one of a
        plain name or of an attribute of `self`, and calls this function, or a module's `forward`.

        >>> text = "def f(x):\\n    x.sum()\\nf(batch)"
        >>> call, use = Frame("a.py", "<module>", 3, 3, 0, 8), Frame("a.py", "f", 2, 2, 4, 11)
        >>> Sources({"a.py": text}).argument_name(call, use, "x")
        'batch'
        """
        call, function = self.node(outer), self.function(inner)
        if not isinstance(call, ast.Call) or function is None or any(isinstance(one, ast.Starred) for one in call.args):
            return None
        of_self = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
        own = isinstance(call.func, ast.Name) or (of_self and first_name(call.func) == "self")
        called = getattr(call.func, "id", None) or getattr(call.func, "attr", None)
        if not own or function.name not in (called, "forward", "__call__"):
            return None
        parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        if parameters[:1] == ["self"]:
            parameters = parameters[1:]
        stored = (one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        if name not in parameters or name in stored:
            return None
        values = dict(zip(parameters, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
        value = values.get(name)
        return value.id if isinstance(value, ast.Name) else None

    def function(self, frame: Frame) -> ast.FunctionDef | None:
        """The function in which a frame's expression is written; None for a lambda, a comprehension or a module."""
        node, above = self.node(frame), self.file(frame.file).above
        while node in above:
            node = above[node]
            if isinstance(node, ast.FunctionDef):
                return node
            if isinstance(node, (ast.Lambda, ast.AsyncFunctionDef, ast.GeneratorExp, ast.ListComp)):
                return None
        return None

    def met_unasked(self, frame: Frame) -> str | None:
        """The text of the gradient in the expression at a frame, `x.grad`, if the code around it does not check that
        there is one; else None.  Example: `0.1 * x.grad`, which raises an error if there is none.

        >>> Sources({"a.py": "x -= 0.1 * x.grad"}).met_unasked(Frame("a.py", "<module>", 1, 1, 5, 17))
        'x.grad'
        """
        gradient = next((text for text in self.operands(frame) if text.endswith(".grad")), None)
        over, above = self.file(frame.file).above, self.node(frame)
        if gradient is None or above is None:
            return None
        while above in over and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            above = over[above]
        tests = [node.test for node in ast.walk(above) if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert))]
        tests += [test for node in ast.walk(above) if isinstance(node, ast.comprehension) for test in node.ifs]
        inner = [node for test in tests for node in ast.walk(test)]
        has_check = any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in inner)
        return None if has_check else gradient


def first_name(node: ast.AST) -> str | None:
    """The name that a chain of attributes, calls and subscripts begins with: `torch` of `torch.nn.f(x)`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
