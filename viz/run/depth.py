"""Which parameters lie behind which: where a gradient goes on its way from one to the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.trace.events import OpCalled, Trace

from .iterations import Section


def upstream(trace: Trace, section: Section, places: Mapping[int, int]) -> dict[int, int]:
    """For each parameter, as bits, the places of those from which the data that meet it were computed.

    `places` are numbers of parameters, by their tensors. A weight of a second layer has that of the first here; two
    networks that meet only in the loss have nothing of each other. Linear in the ops of the section.
    """
    reach: dict[int, int] = {}  # by tensor: the parameters from which it was computed
    pure: set[int] = set()  # tensors that were computed from parameters alone, such as transposed weights
    result: dict[int, int] = {}
    for index in range(section.start, section.end):
        event = trace.events[index]
        if not isinstance(event, OpCalled):
            continue
        data = weights = 0
        is_pure = bool(event.inputs)
        for tensor in (-1 if one.tensor is None else one.tensor for one in event.inputs):
            if tensor in places:
                weights |= 1 << places[tensor]
            elif tensor in pure:
                weights |= reach[tensor]
            else:
                data |= reach.get(tensor, 0)
                is_pure = False
        if data:
            for place in bits(weights):
                result[place] = result.get(place, 0) | data
        if event.node is None:  # as detach(): no gradient comes back from here
            continue
        for output in event.outputs:
            reach[output.tensor] = data | weights
            if is_pure:
                pure.add(output.tensor)
    return result


def bits(number: int) -> Iterator[int]:
    """The places of the ones in a number.

    >>> list(bits(0b1101))
    [0, 2, 3]
    """
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1
