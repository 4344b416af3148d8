"""torch.special: special functions, most of them under other names in torch itself too."""

from __future__ import annotations

from ..api.calls import functions as _fn
from ..api.calls.check import need_tensor
from ..api.math.special import logit, mvlgamma, ndtr, of_one, of_two, polygamma, xlogy
from ..api.reduce.reduction import log_softmax, logsumexp, softmax
from ..ops import arithmetic as _ar
from ..ops import elementwise as _el
from ..ops import special as _sp
from ..tensor.tensor import Tensor

__all__ = [
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]

digamma = psi = of_one(_sp.digamma, "digamma")
entr = of_one(_sp.entr, "entr")
erfcx = of_one(_sp.erfcx, "erfcx")
erfinv = of_one(_sp.erfinv, "erfinv")
gammaln = of_one(_sp.lgamma, "gammaln")
i0 = of_one(_sp.i0, "i0")
i0e = of_one(_sp.i0e, "i0e")
i1 = of_one(_sp.i1, "i1")
i1e = of_one(_sp.i1e, "i1e")
log_ndtr = of_one(_sp.log_ndtr, "log_ndtr")
ndtri = of_one(_sp.ndtri, "ndtri")
sinc = of_one(_sp.sinc, "sinc")
spherical_bessel_j0 = of_one(_sp.spherical_bessel_j0, "spherical_bessel_j0")
bessel_j0 = of_one(_sp.bessel["bessel_j0"], "bessel_j0")
bessel_j1 = of_one(_sp.bessel["bessel_j1"], "bessel_j1")
bessel_y0 = of_one(_sp.bessel["bessel_y0"], "bessel_y0")
bessel_y1 = of_one(_sp.bessel["bessel_y1"], "bessel_y1")
modified_bessel_i0 = of_one(_sp.bessel["modified_bessel_i0"], "modified_bessel_i0")
modified_bessel_i1 = of_one(_sp.bessel["modified_bessel_i1"], "modified_bessel_i1")
modified_bessel_k0 = of_one(_sp.bessel["modified_bessel_k0"], "modified_bessel_k0")
modified_bessel_k1 = of_one(_sp.bessel["modified_bessel_k1"], "modified_bessel_k1")
scaled_modified_bessel_k0 = of_one(_sp.bessel["scaled_modified_bessel_k0"], "scaled_modified_bessel_k0")
scaled_modified_bessel_k1 = of_one(_sp.bessel["scaled_modified_bessel_k1"], "scaled_modified_bessel_k1")
xlog1py = of_two(_sp.xlog1py, _sp.xlog1py_of_number, _sp.xlog1py_number, "xlog1py")
zeta = of_two(_sp.zeta, _sp.zeta_of_number, _sp.zeta_number, "zeta")
expit = of_one(_el.sigmoid, "expit")
erf = _fn.erf
erfc = _fn.erfc
exp2 = _fn.exp2
expm1 = _fn.expm1
log1p = _fn.log1p
gammainc = _fn.igamma
gammaincc = _fn.igammac
multigammaln = mvlgamma


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest number with `decimals` decimals, halves to even.

    Shapes: (*) -> (*).  Source: torch.special.round.

    >>> import engine as torch
    >>> torch.special.round(torch.tensor([0.5, 1.26]), decimals=1)
    tensor([0.5000, 1.3000])
    """
    need_tensor(input, "special_round")
    return _ar.round_decimals(input, decimals=decimals)
