"""An error with its context, as the explanations need it.  Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.trace.events import ErrorRaised, OpCalled, VjpRun
from engine.trace.messages import Message, read_error

from ...graph.graph import Drawing
from ...reading import text
from ...reading.error_tensors import base, error_tensors
from ...reading.facts import CallFact, Facts
from ...schema.edits import Edits


@dataclass(frozen=True)
class Case:
    """The error event and its trace; `edits` are those with which the trace was replayed."""

    facts: Facts
    drawing: Drawing
    event: ErrorRaised
    edits: Mapping[str, Any] | None

    @cached_property
    def message(self) -> Message:
        return read_error(self.event)

    @property
    def call(self) -> CallFact | None:
        return self.facts.calls.get(self.event.call) if self.event.call is not None else None

    @property
    def op(self) -> OpCalled | None:
        """The forward op of the node at which the error arose."""
        node = self.event.node
        if node is None and self.message.kind == "nan-found":  # PyTorch looks for nan when the node has run
            before = reversed(self.facts.trace.events[: self.event.index])
            node = next((one.node for one in before if isinstance(one, VjpRun)), None)
        index = self.facts.op_of_node.get(node) if node is not None else None
        return self.facts.ops[index].event if index is not None else None

    @property
    def recorded(self) -> str:
        """What the recording has of what led to the error."""
        if self.facts.resumed is None:
            return "; everything up to there is in the graph"
        return f" in iteration {self.facts.resumed:,}, when the recording had paused: what led to it is not recorded"

    @property
    def to_record(self) -> str:
        """How to record the iteration of the error, if the recording had paused in it."""
        if self.facts.resumed is None:
            return ""
        first = max(0, self.facts.resumed - 1)
        return f" To record this iteration and the one before it, run it again with `--steps {first}: --pause`."

    def named(self, tensor: int | None) -> str:
        return (self.facts.names.get(tensor) if tensor is not None else None) or "the tensor"

    @cached_property
    def tensors(self) -> tuple[int, ...]:
        """The tensors that the error is about; cached, because the program's text may be parsed for them."""
        return error_tensors(self.facts, self.event)

    @property
    def tensor(self) -> int | None:
        """The first of them."""
        return next(iter(self.tensors), None)

    @property
    def first(self) -> str:
        """The user's name of the first tensor that the error is about."""
        return self.named(self.tensor)

    @property
    def last(self) -> str:
        """The user's name of the last tensor that the error is about."""
        return self.named(self.tensors[-1] if self.tensors else None)

    def part(self, tensor: int | None) -> str:
        """The user's name of a tensor; for a view without a name, the tensor that it is a part of."""
        name = self.facts.names.get(tensor) if tensor is not None else None
        if name is not None or tensor is None:
            return name or "the tensor"
        whole = base(self.facts, tensor)
        return f"a part of {self.named(whole)}" if whole is not None else "the tensor"

    def code_at(self, stack: int) -> str:
        return self.facts.code_at(stack)

    def statement_at(self, stack: int) -> str:
        """The expression at a stack; for the target of an assignment, as in `h[0] = 1`, the assignment."""
        frame = self.facts.frames.get(stack)
        file = self.facts.sources.file(frame.file) if frame is not None else None
        node = self.facts.sources.node(frame) if frame is not None else None
        above = file.above.get(node) if file is not None and node is not None else None
        if frame is None or file is None or not isinstance(above, ast.Assign) or node not in above.targets:
            return self.code_at(stack)
        return f"`{text.one_line(file.text_of(above), 48)}` in {self.facts.line(frame)}"

    def called(self, stack: int) -> str:
        """The name of the function that the expression at a stack calls, without the object before the dot."""
        call = self._call(stack)
        function = call.func if call is not None else None
        return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")

    def argument(self, stack: int) -> ast.expr | None:
        """The first argument of the call at a stack; None if there is none."""
        call = self._call(stack)
        return call.args[0] if call is not None and call.args else None

    def _call(self, stack: int) -> ast.Call | None:
        frame = self.facts.frames.get(stack)
        node = self.facts.sources.node(frame) if frame is not None else None
        return node if isinstance(node, ast.Call) else None

    @property
    def line(self) -> str:
        """The program's own line that raised the error."""
        return self.facts.quoted(self.facts.failing[self.event.index])


Answer = tuple[str, str, Edits | None]
"""The reason, the smallest fix, and the edits that make it, if edits can."""
