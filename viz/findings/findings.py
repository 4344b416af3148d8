"""All findings of a trace, joined: each kind is searched for in a module of its own.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ..reading.facts import Facts
from . import nonfinite, silent
from .alike_units import alike_units
from .dead_units import dead_units
from .finding import Finding, Kind
from .losses.attention import attention_over_batch
from .losses.batch_as_time import batches_as_time
from .losses.constant_terms import constant_terms
from .losses.kl_divergence import divergences
from .losses.negated import negated_losses
from .losses.padding import counted_padding
from .losses.same_target import same_targets
from .losses.temperature import flat_scores
from .losses.view_order import view_orders
from .losses.wrong_loss import wrong_losses
from .overflow import growth
from .untrained.unlisted import unlisted
from .untrained.unreached import unreached
from .untrained.zero_gradients import zero_gradients
from .updates.clipping import unused_clips
from .updates.not_called import not_called
from .updates.other_loss import other_losses
from .updates.zeroing import cleared, not_zeroed
from .vanishing import vanishing


def findings(facts: Facts) -> list[Finding]:
    """The problems that raised no error: first non-finite and growing values, then the others in order of events.

    Cost: linear in the events.
    """
    sources = nonfinite.findings(facts)
    return [*growth(facts, sources), *sources, *sorted(_silent(facts), key=lambda finding: finding.event)]


def _silent(facts: Facts) -> Iterator[Finding]:
    """The first finding of each kind at an event.  "Not zeroed before an update" and "of another loss" replace
    "adds up" for the same gradient, because they say more; and units that began alike are why they, or their gradients,
    are 0."""
    mixed = [*not_zeroed(facts), *other_losses(facts)]
    pairs: set[tuple[int, Kind]] = {(finding.event, "sum") for finding in mixed}
    alike = alike_units(facts)
    learning = alike or (*dead_units(facts), *zero_gradients(facts)), unreached(facts), unlisted(facts)
    losses = wrong_losses(facts), divergences(facts), flat_scores(facts), counted_padding(facts), negated_losses(facts)
    text = attention_over_batch(facts), constant_terms(facts), same_targets(facts), view_orders(facts)
    rows = batches_as_time(facts)
    later = vanishing(facts), cleared(facts), unused_clips(facts), *losses, *text, rows, silent.findings(facts)
    for finding in chain(not_called(facts), mixed, *learning, *later):
        if (finding.event, finding.kind) not in pairs:
            pairs.add((finding.event, finding.kind))
            yield finding
