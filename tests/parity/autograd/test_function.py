"""Custom Functions: what they may return, and what is checked, beside torch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.autograd.functions import after, double, grads, leaf, made, of_square, pair, square, twice, written
from tests.parity.helpers.outcomes import programs, same

# -- what it looks like ---------------------------------------------------------------------------------------------


def program_node(t: Any) -> Any:
    y = made(t, double, twice).apply(leaf(t))
    return y, y.grad_fn, y.grad_fn.name(), y.grad_fn.next_functions, y.grad_fn is y.grad_fn, y.grad_fn.metadata


def program_user_attributes_are_not_the_nodes_own(t: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.shape, ctx.dtype, ctx.targets, ctx.saved, ctx.op, ctx.plan, ctx.more = "s", "d", "t", "v", "o", "p", "m"
        return x * 2

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * len(ctx.shape + ctx.dtype + ctx.targets + ctx.saved + ctx.op + ctx.plan + ctx.more)

    return grads(t, made(t, forward, backward))


def program_missing_attribute(t: Any) -> Any:
    return made(t, double, twice).apply(leaf(t)).grad_fn.missing


def program_saved_tensors_of_the_node(t: Any) -> Any:
    return made(t, square, of_square).apply(leaf(t)).grad_fn.saved_tensors


def program_needs_input_grad(t: Any) -> Any:
    seen = []

    def forward(ctx: Any, a: Any, b: Any, k: Any) -> Any:
        seen.append((ctx.needs_input_grad, t.is_grad_enabled(), a.requires_grad, type(ctx).__name__))
        return a * b * k

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append((ctx.needs_input_grad, t.is_grad_enabled()))
        return grad, None, None

    made(t, forward, backward).apply(leaf(t), t.ones(3), 5).sum().backward()
    return seen


# -- what forward returns -------------------------------------------------------------------------------------------


def program_returns_a_number(t: Any) -> Any:
    return made(t, lambda ctx, x: 3, twice).apply(leaf(t))


def program_returns_a_list(t: Any) -> Any:
    return made(t, lambda ctx, x: [x * 2], twice).apply(leaf(t))


def program_returns_things_of_all_kinds(t: Any) -> Any:
    seen: list[Any] = []
    function = made(t, lambda ctx, x: (3, x * 2, "s", None), lambda ctx, *g: after(seen, [type(v) for v in g], g[1]))
    x = leaf(t)
    y = function.apply(x)
    return y, t.autograd.grad(y[1].sum(), x), [[k is type(None) for k in kinds] for kinds in seen]


def program_returns_its_input(t: Any) -> Any:
    x = leaf(t)
    y = made(t, lambda ctx, a: a, twice).apply(x)
    return y, y is x, y._is_view(), y._base is x, t.autograd.grad(y.sum(), x)


def program_returns_a_view(t: Any) -> Any:
    y = made(t, lambda ctx, a: a.view(3, 1), lambda ctx, g: g.view(3)).apply(leaf(t) * 1)
    return y, y._is_view()


def program_returns_one_tensor_twice(t: Any) -> Any:
    a, b = made(t, lambda ctx, x: (lambda y: (y, y))(x * 2), lambda ctx, g, h: g + h).apply(leaf(t))
    return a is b, a


def program_returns_a_leaf_of_its_own(t: Any) -> Any:
    return made(t, lambda ctx, x: leaf(t, 5.0), lambda ctx, g: None).apply(leaf(t))


def program_several_outputs(t: Any) -> Any:
    return made(t, pair, lambda ctx, g, h: g * 2 + h * 3).apply(leaf(t))


def program_gradients_that_did_not_come_are_zeros(t: Any) -> Any:
    seen: list[Any] = []
    x = leaf(t)
    function = made(t, pair, lambda ctx, g, h: after(seen, (g, h), g * 2 + h * 3))
    return t.autograd.grad(function.apply(x)[0].sum(), x), seen


def program_gradients_that_did_not_come_are_none(t: Any) -> Any:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    x = leaf(t)
    function = made(t, forward, lambda ctx, g, h: after(seen, (g, h), h * 3))
    return t.autograd.grad(function.apply(x)[1].sum(), x), seen


def program_non_differentiable_output(t: Any) -> Any:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        place, part = x.argmax(), x * 5
        ctx.mark_non_differentiable(place, part)
        return x * 2, place, part

    x = leaf(t)
    y = made(t, forward, lambda ctx, *g: after(seen, g, g[0] * 2)).apply(x)
    return y, t.autograd.grad(y[0].sum(), x), seen


def program_without_grad(t: Any) -> Any:
    with t.no_grad():
        return made(t, square, of_square).apply(leaf(t)), made(t, double, twice).apply(t.ones(2))


def program_keyword_arguments(t: Any) -> Any:
    y = made(t, lambda ctx, x, k=2: x * k, lambda ctx, g: (g, None)).apply(leaf(t), k=4)
    return y, y.grad_fn.next_functions


def program_setup_context(t: Any) -> Any:
    seen: list[Any] = []

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        seen.append((inputs, output, output.requires_grad))
        ctx.k = inputs[1]
        ctx.save_for_backward(output)

    function = made(t, lambda x, k=3: x * k, lambda ctx, g: (g * ctx.k, None), setup_context=setup)
    return grads(t, function), grads(t, function, 4), seen


def program_vjp_is_backward(t: Any) -> Any:
    return grads(t, made(t, double, vjp=twice))


# -- what is checked ------------------------------------------------------------------------------------------------


def program_no_backward(t: Any) -> Any:
    return grads(t, made(t, double))


def program_no_forward(t: Any) -> Any:
    function: Any = type("F", (t.autograd.Function,), {})
    return function.apply(leaf(t))


def program_backward_and_vjp(t: Any) -> Any:
    return grads(t, made(t, double, twice, vjp=twice))


def program_too_few_gradients(t: Any) -> Any:
    return grads(t, made(t, lambda ctx, a, b: a * b, twice), leaf(t))


def program_too_many_gradients(t: Any) -> Any:
    return grads(t, made(t, double, lambda ctx, g: (g, g)))


def program_too_many_gradients_that_are_none(t: Any) -> Any:
    return grads(t, made(t, double, lambda ctx, g: (g, None, None)))


def program_gradient_for_a_number(t: Any) -> Any:
    return grads(t, made(t, lambda ctx, a, k: a * k, lambda ctx, g: (g, g)), 2.0)


def program_gradient_of_another_shape(t: Any) -> Any:
    return grads(t, made(t, double, lambda ctx, g: g[:2]))


def program_gradient_that_is_summed(t: Any) -> Any:
    return grads(t, made(t, double, lambda ctx, g: g.expand(2, 3)))


def program_gradient_of_another_dtype(t: Any) -> Any:
    return grads(t, made(t, double, lambda ctx, g: g.double())), grads(t, made(t, double, lambda ctx, g: g.long()))


def program_gradient_that_is_no_tensor(t: Any) -> Any:
    return grads(t, made(t, double, lambda ctx, g: 3))


def program_gradient_in_a_list(t: Any) -> Any:
    return grads(t, made(t, double, lambda ctx, g: [g]))


def program_gradient_none(t: Any) -> Any:
    return grads(t, made(t, double, lambda ctx, g: None))


def program_saves_a_number(t: Any) -> Any:
    return made(t, lambda ctx, x: (ctx.save_for_backward(x, 3), x * 2)[1], twice).apply(leaf(t))


def program_input_returned_and_saved_in_setup(t: Any) -> Any:
    function = made(t, lambda x: x, twice, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
    return function.apply(leaf(t))


def program_instance(t: Any) -> Any:
    return made(t, double, twice)()(leaf(t))


# -- writing in place -----------------------------------------------------------------------------------------------


def program_dirty(t: Any) -> Any:
    x = leaf(t)
    y = x * 1
    z = made(t, written, twice).apply(y)
    return z is y, z, z.grad_fn, y._version, t.autograd.grad(z.sum(), x)


def program_dirty_leaf(t: Any) -> Any:
    return made(t, written, twice).apply(leaf(t))


def program_dirty_without_grad(t: Any) -> Any:
    y = t.ones(2)
    z = made(t, written, twice).apply(y)
    return z is y, y._version, z


def program_dirty_not_returned(t: Any) -> Any:
    return made(t, lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2), x * 1)[2], twice).apply(leaf(t) * 1)


def program_dirty_that_is_no_input(t: Any) -> Any:
    return made(t, lambda ctx, x: (lambda y: (ctx.mark_dirty(y), y)[1])(x * 2), twice).apply(leaf(t) * 1)


def program_dirty_view(t: Any) -> Any:
    x = leaf(t)
    y = x * 1
    v = y[:2]
    z = made(t, written, twice).apply(v)
    return z is v, z, y, y.grad_fn.next_functions, t.autograd.grad(y.sum(), x)


def program_dirty_view_of_a_leaf(t: Any) -> Any:
    return made(t, written, twice).apply(leaf(t)[:2])


def program_dirty_view_and_another_output(t: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2), x * 1

    return made(t, forward, lambda ctx, g, h: g + h).apply((leaf(t) * 1)[:2])


def program_written_though_not_said(t: Any) -> Any:
    return made(t, lambda ctx, x: x.mul_(2), twice).apply(leaf(t) * 1)


def program_output_written(t: Any) -> Any:
    x = leaf(t)
    y = made(t, pair, lambda ctx, g, h: g * 2 + h * 3).apply(x)[0]
    return y.add_(1).grad_fn.next_functions, t.autograd.grad(y.sum(), x)


def program_returned_input_written(t: Any) -> Any:
    return made(t, lambda ctx, x: x, twice).apply(leaf(t) * 1).add_(1)


def program_returned_view_written(t: Any) -> Any:
    return made(t, lambda ctx, x: x.view(3, 1), twice).apply(leaf(t) * 1).add_(1)


def program_one_of_two_views_written(t: Any) -> Any:
    return made(t, lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: g).apply(leaf(t) * 1)[0].add_(1)


def program_base_of_a_returned_view_written(t: Any) -> Any:
    y = leaf(t) * 1
    v = made(t, lambda ctx, x: x.view(3, 1), twice).apply(y)
    y.mul_(2)
    return v.grad_fn


# -- running more than once -----------------------------------------------------------------------------------------


def program_second_backward(t: Any) -> Any:
    z = made(t, square, of_square).apply(leaf(t)).sum()
    z.backward()
    z.backward()


def program_second_backward_where_nothing_is_read(t: Any) -> Any:
    x = leaf(t)
    z = made(t, square, twice).apply(x).sum()
    return t.autograd.grad(z, x), t.autograd.grad(z, x)


def program_saved_tensors_after_they_were_freed(t: Any) -> Any:
    y = made(t, square, of_square).apply(leaf(t))
    y.sum().backward()
    return y.grad_fn.saved_tensors


def program_saved_tensor_written(t: Any) -> Any:
    y = leaf(t) * 1
    z = made(t, square, of_square).apply(y)
    y.add_(1)
    z.sum().backward()


def program_double_backward(t: Any) -> Any:
    x = leaf(t)
    (first,) = t.autograd.grad(made(t, square, of_square).apply(x).sum(), x, create_graph=True)
    return first, first.grad_fn, t.autograd.grad(first.sum(), x)


def program_double_backward_through_a_saved_output(t: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    x = leaf(t)
    y = made(t, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    (first,) = t.autograd.grad(y.sum(), x, create_graph=True)
    return y.grad_fn.saved_tensors, first, t.autograd.grad(first.sum(), x)


def program_once_differentiable(t: Any) -> Any:
    function = made(t, square, t.autograd.function.once_differentiable(of_square))
    x = leaf(t)
    (plain,) = t.autograd.grad(function.apply(x).sum(), x, create_graph=True)
    (first,) = t.autograd.grad(function.apply(x), x, x * 1, create_graph=True)
    seen = [plain, first, first.grad_fn.name(), first.requires_grad]
    try:
        first.sum().backward()
    except RuntimeError as error:
        seen.append(str(error))
    return seen


@pytest.mark.parametrize("program", programs(globals()))
def test_function_does_as_in_torch(program: Any) -> None:
    same(program)
