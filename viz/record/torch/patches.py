"""The functions of torch that are replaced during a recording, because no op reports what they do.

Each replacement calls the original with the same arguments and returns its result. `remove` restores all of them. A
replacement that a program has kept does nothing more once the recording is over.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import _HookMixin
from torch.overrides import get_default_nowrap_functions

from engine.arrays.session import is_users, slot
from engine.trace.module_names import Arguments, begun_after_closure

from . import entries
from .forward import grad_fn_of
from .graph import Hooks, Node
from .own_frames import HERE, of_program, of_program_outwards, show_in_program, warn_in_program
from .tensors import requires_of

if TYPE_CHECKING:
    from .watch import Watch

MISSING = object()
is_heard = torch._C._has_torch_function_unary
"""Return whether a subclass or a mode of the program's, such as `torch.set_default_device`, hears of a call with a
tensor.  It then makes the call itself, of our replacement, which records that one."""


class UnwrappedGetter:
    """A getter that torch knows to return tensors of a subclass as they are."""

    def __init__(self, getter: Any) -> None:
        self.getter, self.functions = getter, get_default_nowrap_functions()
        self.functions.add(getter)

    def remove(self) -> None:
        """Let torch forget the getter."""
        self.functions.discard(self.getter)


class Filter:
    """The filter of warnings that is needed to give them where they belong."""

    def __init__(self) -> None:
        filters: Any = warnings.filters
        filters.insert(0, HERE)  # not counted as a change of them, so that no warning is given twice for it

    def remove(self) -> None:
        """Take it out, unless the program has removed all filters."""
        filters: Any = warnings.filters
        if HERE in filters:
            filters.remove(HERE)


def install(watch: Watch) -> list[Any]:
    """Replace the functions, all or none; returns what `remove` needs."""
    undo: list[Any] = []
    try:
        replace_all(watch, undo)
    except BaseException:
        remove(undo)
        raise
    return undo


def replace_all(watch: Watch, undo: list[Any]) -> None:
    """Replace the functions; `undo` becomes what `remove` needs."""
    get_default_nowrap_functions()  # torch makes its table at the first call: of what it has without us

    def exchange(owner: Any, name: str, replacement: Any) -> None:
        undo.append((owner, name, vars(owner).get(name, MISSING)))
        setattr(owner, name, replacement)

    def replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        exchange(owner, name, make(getattr(owner, name)))

    def watched(owner: Any, wrapper: Callable[..., Any], *names: str) -> None:
        for name in names:
            replace(owner, name, functools.partial(wrapper, watch))

    watched(torch.nn.Module, module_call, "__call__")
    watched(torch.nn.Module, converted, "_apply")
    for module in (torch.autograd, torch.autograd.graph):
        watched(module, run_backward, "_engine_run_backward")
    watched(torch.autograd, make_grads, "_make_grads")
    for kind in (torch.no_grad, torch.enable_grad, torch.set_grad_enabled, torch.inference_mode):
        watched(kind, grad_mode, "__enter__", "__exit__")
    watched(torch.set_grad_enabled, grad_mode, "__init__")  # called without `with`
    watched(torch.Tensor, gradient, "grad")
    undo.append(UnwrappedGetter(vars(torch.Tensor)["grad"].__get__))
    watched(torch.Tensor, flag_set, "requires_grad")
    watched(torch.Tensor, flag, "requires_grad_")
    watched(torch.Tensor, retain_grad, "retain_grad")
    watched(torch.Tensor, data, "data")
    watched(torch.Tensor, register_hook, "register_hook")
    watched(torch.Tensor, scalar, "item", "__bool__", "__float__", "__int__")
    watched(torch.Tensor, escape, "numpy", "tolist")
    watched(torch.Tensor, formatted, "__format__")
    watched(torch.Tensor, retyped, "as_subclass")
    exchange(_HookMixin, "_register_hook", staticmethod(hook_on_node(_HookMixin._register_hook)))
    function = torch.autograd.Function
    exchange(function, "apply", classmethod(custom_function(watch, vars(function)["apply"])))
    replace(torch._tensor_str, "_str", functools.partial(escape, watch, kind="repr"))
    for name in ("backward", "grad"):
        replace(torch.autograd, name, functools.partial(backward_call, watch, name))
    watched(torch, compiled, "compile")
    tracing = importlib.import_module("torch.jit._trace")  # it makes a graph of all that runs
    for module in (torch.jit, tracing):
        for name in ("trace", "trace_module", "_trace_impl", "_get_trace_graph"):
            if hasattr(module, name):
                replace(module, name, functools.partial(compiled_call, watch))
    watched(warnings, show_warning, "_showwarnmsg_impl")
    replace(warnings, "_showwarnmsg", show_in_program)
    replace(warnings, "warn", warn_in_program)
    undo.append(Filter())
    for name in ("walk_tb", "_walk_tb_with_full_positions"):
        replace(traceback, name, functools.partial(walk, watch, of_program))
    replace(traceback, "walk_stack", functools.partial(walk, watch, of_program_outwards))
    for name, change in (("__enter__", 1), ("__exit__", -1)):
        replace(torch.autograd.graph.saved_tensors_hooks, name, functools.partial(packing, watch, change))
    if watch.spawned is not None:
        for module in (torch.multiprocessing, importlib.import_module("torch.multiprocessing.spawn")):
            watched(module, start_processes, "start_processes")
    loader = importlib.import_module("torch.utils.data.dataloader")
    watched(loader._BaseDataLoaderIter, loaded, "__next__")
    watched(loader.DataLoader, aside, "__iter__")


def follow(watch: Watch) -> list[Any]:
    """Watch the threads that begin from now on, even while `install` is undone; returns what `remove` needs."""
    own = vars(threading.Thread)["_bootstrap_inner"]
    setattr(threading.Thread, "_bootstrap_inner", thread(watch, own))  # noqa: B010 mypy takes it for a method
    return [(threading.Thread, "_bootstrap_inner", own)]


def follow_steps(watch: Watch) -> list[Any]:
    """Watch the steps of optimisers; returns what `remove` needs.

    A pause begins and ends in such a hook, so these hooks stay: torch is about to call the next one.
    """
    hooks = importlib.import_module("torch.optim.optimizer")  # torch takes the name out of its package
    return [
        hooks.register_optimizer_step_pre_hook(functools.partial(step_begins, watch)),
        hooks.register_optimizer_step_post_hook(functools.partial(step_ended, watch)),
    ]


def remove(undo: list[Any]) -> None:
    """Undo the changes of `install` and `follow`."""
    for entry in reversed(undo):
        if not isinstance(entry, tuple):
            entry.remove()
            continue
        owner, name, own = entry
        if own is MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


def module_call(watch: Watch, real: Any) -> Any:
    """A group for each call of a module."""

    @functools.wraps(real)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 its name in tracebacks
        if watch.off or slot.active is not watch.recorder or not watch.threads.may_begin(lambda: is_trained(self)):
            return real(self, *args, **kwargs)
        if is_compiled(self):
            return unseen(watch, real, self, *args, **kwargs)
        depth = watch.modules.depth
        watch.while_off(watch.modules.enter, self)
        try:
            return real(self, *args, **kwargs)
        finally:
            if watch.modules.depth > depth:
                watch.while_off(watch.modules.leave)

    return __call__


def converted(watch: Watch, real: Any) -> Any:
    """`to`, `cuda`, `half` of a module: its parameters are elsewhere or of another dtype, which computes nothing."""

    @functools.wraps(real)
    def _apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.is_looking():
            return real(self, *args, **kwargs)
        watch.finish()
        dtypes = [(parameter, parameter.dtype) for parameter in self.parameters()]
        try:
            with watch.aside():
                return real(self, *args, **kwargs)
        finally:
            for parameter, dtype in dtypes:
                if parameter.dtype is not dtype:
                    watch.tensors.forget(parameter)

    return _apply


def is_trained(module: Any) -> bool:
    """Return whether a module has parameters that require grad."""
    return any(requires_of(parameter) for parameter in module.parameters())


def is_compiled(module: Any) -> bool:
    """Return whether a call of a module runs compiled code."""
    return getattr(module, "_compiled_call_impl", None) is not None or type(module).__name__ == "OptimizedModule"


def unseen(watch: Watch, run: Any, *args: Any, **kwargs: Any) -> Any:
    """Run code that a compiler looks into, with torch as it was: none of it is recorded."""
    with watch.unwatched():
        return run(*args, **kwargs)


def compiled(watch: Watch, real: Any) -> Any:
    """`torch.compile`: the compiled function is not recorded inside."""

    @functools.wraps(real)
    def compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        result = real(model, *args, **kwargs)
        if isinstance(result, torch.nn.Module) or not callable(result):
            return result
        if model is None:  # used as a decorator with options
            return lambda function: compiled_call(watch, result(function))
        return compiled_call(watch, result)

    return compile


def compiled_call(watch: Watch, function: Any) -> Any:
    """A compiled function, or one that compiles."""
    if isinstance(function, torch.nn.Module):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not watch.is_looking():
            return function(*args, **kwargs)
        return unseen(watch, function, *args, **kwargs)

    if hasattr(call, "_torchdynamo_wrapper_id"):  # by this the compiler knows a compiled function that it gets again
        vars(call)["_torchdynamo_wrapper_id"] = id(call)
    return call


def hook_on_node(real: Any) -> Any:
    """The table of the hooks of a node, which torch's C++ code asks for.

    One with ours alone is made without the handle that removes a hook: that takes half the time, for each op.
    """

    def _register_hook(hooks: Any, hook: Any) -> tuple[Any, Any]:
        if hooks is None and type(hook) is Node:
            return Hooks({Hooks.OWN: hook}), None
        result: tuple[Any, Any] = real(hooks, hook)
        return result

    return _register_hook


def run_backward(watch: Watch, real: Any) -> Any:
    """A backward call."""

    @functools.wraps(real)
    def _engine_run_backward(t_outputs: Any, *args: Any, **kwargs: Any) -> Any:
        return watch.backward.run(real, t_outputs, args, kwargs)

    return _engine_run_backward


def make_grads(watch: Watch, real: Any) -> Any:
    """The gradients that a backward call fills in."""

    @functools.wraps(real)
    def _make_grads(outputs: Any, grads: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.is_looking():
            return real(outputs, grads, *args, **kwargs)
        watch.finish()
        with watch.aside():
            seeds = real(outputs, grads, *args, **kwargs)
        watch.backward.implicit = frozenset(id(one) for one, own in zip(seeds, grads, strict=False) if own is None)
        return seeds

    return _make_grads


def grad_mode(watch: Watch, real: Any) -> Any:
    """Switches of gradient recording."""

    @functools.wraps(real)
    def switch(self: Any, *args: Any) -> Any:
        result = real(self, *args)
        if watch.is_looking():
            watch.while_off(switched, watch, torch.is_grad_enabled(), watch.place(2))
        return result

    return switch


def switched(watch: Watch, enabled: bool, stack: int) -> None:
    """Gradient recording is on or off from now on; that it is off counts once an op runs that way."""
    forward = watch.forward
    forward.settle()
    forward.switched = None
    if enabled is not forward.grad_enabled:
        if enabled:
            forward.mode_changed(enabled, stack)
        else:
            forward.switched = stack


def gradient(watch: Watch, real: Any) -> Any:
    """`x.grad`, and `x.grad = ...`."""

    def get(self: Any) -> Any:
        return real.__get__(self)

    def put(self: Any, value: Any) -> None:
        watch.finish()
        real.__set__(self, value)
        if watch.is_looking() and not is_heard(self):
            watch.while_off(watch.grad_set, self, value, watch.place(2))

    def delete(self: Any) -> None:
        watch.finish()
        real.__delete__(self)
        if watch.is_looking() and not is_heard(self):
            watch.while_off(watch.grad_set, self, None, watch.place(2))

    return property(get, put, delete, real.__doc__)


def flag(watch: Watch, real: Any) -> Any:
    """`requires_grad_()`."""

    @functools.wraps(real)
    def requires_grad_(self: Any, *args: Any, **kwargs: Any) -> Any:
        watch.finish()
        result = real(self, *args, **kwargs)
        state = watch.tensors.find(self)
        if state is not None and watch.is_looking() and watch.while_off(requires_of, self) is not state.requires:
            watch.while_off(watch.tensors.flag, state, self, watch.place(2))
        return result

    return requires_grad_


def flag_set(watch: Watch, real: Any) -> Any:
    """`x.requires_grad`, and `x.requires_grad = ...`."""
    read = real.__get__

    def get(self: Any) -> Any:
        return read(self)

    def put(self: Any, value: Any) -> None:
        watch.finish()
        real.__set__(self, value)
        state = watch.tensors.find(self)
        if state is not None and watch.is_looking() and value is not state.requires:
            watch.while_off(watch.tensors.flag, state, self, watch.place(2))

    return property(get, put, None, real.__doc__)


def retain_grad(watch: Watch, real: Any) -> Any:
    """`retain_grad()`."""

    @functools.wraps(real)
    def retain_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = real(self, *args, **kwargs)
        if watch.is_looking() and not is_heard(self):
            watch.while_off(retains, watch, self, watch.place(2))
        return result

    return retain_grad


def data(watch: Watch, real: Any) -> Any:
    """`x.data`, and `x.data = ...`."""

    def get(self: Any) -> Any:
        if not watch.is_looking():
            return real.__get__(self)
        watch.finish()
        with watch.aside():
            alias = real.__get__(self)
        watch.while_off(watch.forward.data, self, alias, watch.place(2))
        return alias

    def put(self: Any, value: Any) -> None:
        watch.finish()
        real.__set__(self, value)
        if watch.is_looking() and not is_heard(self):
            watch.while_off(watch.data_set, self, value, watch.place(2))

    return property(get, put, None, real.__doc__)


def retyped(watch: Watch, real: Any) -> Any:
    """`x.as_subclass(...)`, which torch 2.4 refuses under a dispatch mode."""

    @functools.wraps(real)
    def as_subclass(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.is_looking():
            return real(self, *args, **kwargs)
        watch.finish()
        with watch.aside():
            alias = real(self, *args, **kwargs)
        watch.while_off(watch.forward.retyped, self, alias, watch.place(2))
        return alias

    return as_subclass


def register_hook(watch: Watch, real: Any) -> Any:
    """A hook on a tensor's gradient."""

    @functools.wraps(real)
    def register_hook(self: Any, hook: Any) -> Any:
        if not watch.is_looking() or not callable(hook) or is_heard(self):
            return real(self, hook)
        return real(self, watch.hooked(hook, self))

    return register_hook


def scalar(watch: Watch, real: Any) -> Any:
    """A number is read into Python: an op reports it, but not which method the program called."""
    kind = {"__bool__": "bool", "__float__": "float", "__int__": "int"}.get(real.__name__, real.__name__)

    @functools.wraps(real)
    def leave(self: Any) -> Any:
        watch.forward.escapes = kind
        try:
            return real(self)
        finally:
            watch.forward.escapes = "item"

    return leave


def escape(watch: Watch, real: Any, kind: str = "") -> Any:
    """Elements are read into Python or numpy, which no op reports."""
    kind = kind or real.__name__

    @functools.wraps(real)
    def leave(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.is_looking():
            return real(self, *args, **kwargs)
        watch.finish()
        with watch.aside():
            result = real(self, *args, **kwargs)
        watch.while_off(watch.leaves, kind, self, watch.place(2))
        return result

    return leave


def formatted(watch: Watch, real: Any) -> Any:
    """A tensor in an f-string: of a scalar the number is read, by way of a detached one."""
    read = escape(watch, real, "item")

    @functools.wraps(real)
    def __format__(self: Any, spec: str) -> str:  # noqa: N807 its name in tracebacks
        is_number = type(self) is torch.Tensor and self.dim() == 0
        text: str = read(self, spec) if is_number else real(self, spec)
        return text

    return __format__


def walk(watch: Watch, rest: Any, real: Any) -> Any:
    """The frames that `traceback` prints, of a traceback or a stack: without the recorder's, except in a report of a
    fault of its own."""

    @functools.wraps(real)
    def walk(frames: Any) -> Any:
        if frames is None or watch.telling:  # for None it counts its own callers
            return real(frames)
        return rest(real(frames), lambda entry: entry[0])

    return walk


def packing(watch: Watch, change: int, real: Any) -> Any:
    """Hooks of the program pack what is saved from now on, or no more: to look at it would unpack it."""

    @functools.wraps(real)
    def hooks(self: Any, *args: Any) -> Any:
        watch.finish()
        result = real(self, *args)
        watch.graph.packing = max(0, watch.graph.packing + change)
        return result

    return hooks


def custom_function(watch: Watch, method: Any) -> Any:
    """A custom Function; `method` is the class method as the class has it, which is one of C from torch 2.14 on."""

    @functools.wraps(getattr(method, "__func__", method))
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        real = method.__get__(None, cls)
        if not watch.threads.may_run(args) or not watch.is_looking():
            return real(*args, **kwargs)
        return watch.forward.custom(real, cls, args, kwargs)

    return apply


def retains(watch: Watch, tensor: Any, stack: int) -> None:
    """A tensor retains its gradient from now on."""
    watch.forward.settle()
    state = watch.tensors.see(tensor, stack)
    watch.log.append(("made", stack, entries.flag, state.number, "retain_grad", True))
    fn = grad_fn_of(tensor)
    node = None if fn is None else watch.graph.node_of(fn)
    if node is not None:
        node.retaining = [*(node.retaining or ()), (tensor.output_nr, weakref.ref(tensor))]


def start_processes(watch: Watch, real: Any) -> Any:
    """Processes that run a function: each has a trace of its own.  One that is forked has what runs here already."""

    @functools.wraps(real)
    def start_processes(fn: Any, *args: Any, **kwargs: Any) -> Any:
        method = kwargs.get("start_method", args[4] if len(args) > 4 else "spawn")
        if watch.spawned is None or method == "fork" or not watch.is_looking():
            return real(fn, *args, **kwargs)
        return real(watch.spawned(fn), *args, **kwargs)

    return start_processes


def thread(watch: Watch, real: Any) -> Any:
    """A thread from its beginning to its end."""

    @functools.wraps(real)
    def _bootstrap_inner(self: Any) -> None:
        watch.guarded(watch.threads.begin)
        try:
            real(self)
        finally:
            watch.guarded(watch.threads.end)

    return _bootstrap_inner


def aside(watch: Watch, real: Any) -> Any:
    """Code that is not part of the program: the text of a tensor, the loading of a batch."""

    @functools.wraps(real)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not watch.is_looking():
            return real(*args, **kwargs)
        watch.finish()
        with watch.aside():
            return real(*args, **kwargs)

    return function


def loaded(watch: Watch, real: Any) -> Any:
    """A batch that a loader hands out."""

    @functools.wraps(real)
    def __next__(self: Any) -> Any:  # noqa: N807 its name in tracebacks
        if not watch.is_looking():
            return real(self)
        watch.finish()
        with watch.aside():
            batch = real(self)
            watch.guarded(watch.tensors.loaded, batch)
        return batch

    return __next__


def backward_call(watch: Watch, function: str, real: Any) -> Any:
    """`backward` and `grad` in torch.autograd: their arguments may be refused."""

    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_heard(args[0] if args else None) or not watch.threads.may_begin() or not watch.is_looking():
            return real(*args, **kwargs)
        before = watch.recorder.calls
        if watch.changes is not None:
            args, kwargs = watch.changes.call(watch, real, args, kwargs)
        try:
            return real(*args, **kwargs)
        except Exception as error:
            if watch.recorder.calls == before and watch.is_looking() and args:
                watch.while_off(refused, watch, function, error, args, kwargs)
            raise

    return call


def refused(watch: Watch, function: str, error: Exception, args: Any, kwargs: Any) -> None:
    """torch refused a backward call."""
    inputs = kwargs.get("inputs")
    if isinstance(inputs, (list, tuple)) and not inputs:
        return  # not a call: it has no leaf to go to
    gradients = args[1] if function == "backward" and len(args) > 1 else args[2] if len(args) > 2 else None
    gradients = kwargs.get("grad_tensors", kwargs.get("grad_outputs", gradients))
    keep, create = bool(kwargs.get("retain_graph")), bool(kwargs.get("create_graph"))
    watch.backward.refused(function, error, args[0], gradients, keep, create)


def show_warning(watch: Watch, real: Any) -> Any:
    """A warning that is shown."""

    @functools.wraps(real)
    def _showwarnmsg_impl(msg: Any) -> Any:
        if watch.is_looking() and not is_engines(sys._getframe(1)):
            watch.while_off(
                watch.warned, msg.category.__name__, str(msg.message).partition(" (Triggered internally at")[0]
            )
        return real(msg)

    return _showwarnmsg_impl


def is_engines(frame: Any) -> bool:
    """Return whether a frame belongs to the engine or is called by it: the engine records its own warnings."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        if frame.f_globals.get("__name__", "").startswith("engine."):
            return True
        frame = frame.f_back
    return False


def step_begins(watch: Watch, optimizer: Any, args: Any, kwargs: Any) -> Arguments:
    """Begin the group of a step of an optimiser."""
    return begun_after_closure(args, kwargs, functools.partial(watch.while_off, watch.modules.step, optimizer))


def step_ended(watch: Watch, optimizer: Any, *_: Any) -> None:
    """End that group; a recording may pause or go on here."""
    watch.while_off(watch.modules.stepped, optimizer)
    if slot.stepped is not None and watch.threads.is_recorded():
        watch.guarded(slot.stepped, optimizer)
