"""How far one distribution is from another: the expected difference of their log-probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..namespaces import linalg
from ..nn.functional import softplus
from ..tensor.tensor import Tensor
from .continuous import Cauchy, Exponential, Laplace, MultivariateNormal, Normal, Uniform
from .discrete import Bernoulli, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution
from .independent import Independent
from .transformed import TransformedDistribution
from .transformed_families import EULER, Gumbel, HalfNormal, Pareto

__all__ = ["kl_divergence", "register_kl"]

Formula = Callable[[Any, Any], Tensor]
F = TypeVar("F", bound=Formula)
_formulas: dict[tuple[type, type], Formula] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[F], F]:
    """Decorate a function of two distributions: it gives the divergence for these two classes and their subclasses.

    Source: torch.distributions.register_kl.

    >>> import engine as torch
    >>> class Still(torch.distributions.Normal):
    ...     pass
    >>> @torch.distributions.register_kl(Still, Still)
    ... def _nothing(p, q):
    ...     return torch.tensor(0.0)
    >>> torch.distributions.kl_divergence(Still(0.0, 1.0), Still(1.0, 1.0))
    tensor(0.)
    """

    def decorate(function: F) -> F:
        _formulas[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence KL(p || q), one per element of the batch.

    Raises NotImplementedError where no formula is known for the two kinds.  Source: torch.distributions.kl_divergence.

    >>> import engine as torch
    >>> torch.distributions.kl_divergence(torch.distributions.Normal(0.0, 1.0), torch.distributions.Normal(1.0, 1.0))
    tensor(0.5000)
    """
    for one in type(p).__mro__:
        for other in type(q).__mro__:
            if (one, other) in _formulas:
                return _formulas[one, other](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    away = ((p.loc - q.loc) / q.scale).pow(2)
    result: Tensor = 0.5 * (ratio + away - 1 - ratio.log())
    return result


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result: Tensor = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = float("inf")
    return result


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    result: Tensor = -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1
    return result


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    yes = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    no = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    result: Tensor = yes + no
    return result


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    away = p.probs * (p.logits - q.logits)
    away[(q.probs == 0).expand_as(away)] = float("inf")
    away[(p.probs == 0).expand_as(away)] = 0
    result: Tensor = away.sum(-1)
    return result


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    factor = q._unbroadcasted_scale_tril
    spread = linalg.solve_triangular(factor, p._unbroadcasted_scale_tril, upper=False).pow(2).sum((-2, -1))
    away = linalg.solve_triangular(factor, (q.loc - p.loc).unsqueeze(-1), upper=False).pow(2).sum((-2, -1))
    result: Tensor = q._log_det() - p._log_det() + 0.5 * (spread + away - p.event_shape[0])
    return result


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p.summed(kl_divergence(p.base_dist, q.base_dist))


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    result: Tensor = -ratio.log() + ratio - 1
    return result


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    result: Tensor = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()
    return result


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, here, there = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    result: Tensor = -ratio.log() - here + there + ratio * EULER
    return result + (here + (1 + ratio).lgamma() - there).exp() - (1 + EULER)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    power = q.alpha / p.alpha
    result: Tensor = q.alpha * (p.scale / q.scale).log() - power.log() + power - 1
    result[p.scale < q.scale] = float("inf")
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    result: Tensor = p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)
    return result


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    result: Tensor = -p.entropy() - (-q.probs).log1p() / p.probs - q.logits
    return result
