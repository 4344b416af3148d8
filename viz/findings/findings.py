"""All findings of a trace, joined: each kind is searched for in a module of its own.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ..reading.facts import Facts
from . import nonfinite, silent
from .accumulated import forgotten
from .cleared import emptied
from .finding import Finding, Kind
from .overflow import growth
from .unlisted import unlisted
from .unreached import unreached
from .vanishing import vanishing
from .wrong_loss import scores
from .zero_gradients import stalled


def findings(facts: Facts) -> list[Finding]:
    """What is wrong though nothing was raised: first what is not finite and what grew, then the rest as it happened.

    Cost: linear in the events.
    """
    born = nonfinite.findings(facts)
    return [*growth(facts, born), *born, *sorted(_silent(facts), key=lambda finding: finding.event)]


def _silent(facts: Facts) -> Iterator[Finding]:
    """The first finding of each kind at an event.  Where a gradient was not zeroed before an update, that says more
    than that it adds up."""
    not_zeroed = forgotten(facts)
    known: set[tuple[int, Kind]] = {(finding.event, "sum") for finding in not_zeroed}
    others = (unreached(facts), unlisted(facts), stalled(facts), vanishing(facts), emptied(facts), scores(facts))
    for finding in chain(not_zeroed, *others, silent.findings(facts)):
        if (finding.event, finding.kind) not in known:
            known.add((finding.event, finding.kind))
            yield finding
