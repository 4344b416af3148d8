"""An autograd engine with PyTorch's names and `backward()` semantics.

`import engine as torch` runs a torch snippet; `with engine.record() as trace:` records what it does.
"""

from . import (
    accelerator,
    amp,
    array,
    autograd,
    backends,
    constructors,
    creation,
    cuda,
    distributions,
    filled,
    func,
    linalg,
    nn,
    optim,
    profiler,
    random,
    special,
    torch_version,
    utils,
    version,
)
from . import attributes as attributes  # gives nodes what they keep as attributes
from . import tracefile as tracefile  # gives Trace its save and open
from .amp import GradScaler, autocast
from .anomaly import is_anomaly_enabled
from .api import absent as _absent
from .api import arithmetic as _arithmetic
from .api import arrange as _arrange
from .api import called as _called
from .api import chains as _chains
from .api import choice as _choice
from .api import counting as _counting
from .api import decomposition as _decomposition
from .api import differences as _differences
from .api import drawing as _drawing
from .api import einsum as _einsum
from .api import elementwise as _elementwise
from .api import extremes as _extremes
from .api import factors as _factors
from .api import functions as _functions
from .api import indexing as _indexing
from .api import joining as _joining
from .api import late as _late
from .api import linalg as _linalg
from .api import masking as _masking
from .api import methods
from .api import norms as _norms
from .api import parts as _parts
from .api import products as _products
from .api import random as _random
from .api import redrawing as _redrawing
from .api import reduction as _reduction
from .api import replacing as _replacing
from .api import reshaping as _reshaping
from .api import scan as _scan
from .api import scatter as _scatter
from .api import searching as _searching
from .api import settings as _settings
from .api import shape as _shape
from .api import sorting as _sorting
from .api import special as _special
from .api import spectrum as _spectrum
from .api import statistics as _statistics
from .api import storage as _storage
from .api import terms as _terms
from .api import transposes as _transposes
from .api import types as _types
from .api import written as _written
from .api.absent import *
from .api.absent import bfloat16_dtype as bfloat16
from .api.arithmetic import *
from .api.arrange import *
from .api.chains import *
from .api.choice import *
from .api.counting import *
from .api.decomposition import *
from .api.differences import *
from .api.drawing import *
from .api.einsum import *
from .api.elementwise import *
from .api.extremes import *
from .api.factors import *
from .api.functions import *
from .api.indexing import *
from .api.joining import *
from .api.linalg import *
from .api.masking import *
from .api.norms import *
from .api.parts import *
from .api.products import *
from .api.random import *
from .api.redrawing import *
from .api.reduction import *
from .api.replacing import *
from .api.reshaping import *
from .api.scan import *
from .api.scatter import *
from .api.searching import *
from .api.settings import *
from .api.shape import *
from .api.sorting import *
from .api.special import *
from .api.spectrum import *
from .api.statistics import *
from .api.storage import *
from .api.terms import *
from .api.transposes import *
from .api.types import *
from .api.written import *
from .array import bool_ as bool
from .array import (
    device,
    double,
    dtype,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    long,
    short,
    uint8,
)
from .array import float32 as float
from .array import int32 as int
from .constructors import *
from .creation import *
from .filled import *
from .func import vmap
from .mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .nn import shared as _shared
from .nn.shared import *
from .ops.shape import detach
from .printing import set_printoptions
from .recording import record
from .replay import replay
from .size import Size
from .tensor import Tensor
from .torch_version import __version__
from .trace import Trace
from .utils.saving import load, save

__all__ = [
    "GradScaler",
    "Size",
    "Tensor",
    "Trace",
    "__version__",
    "accelerator",
    "amp",
    "autocast",
    "autograd",
    "backends",
    "bfloat16",
    "bool",
    "cuda",
    "detach",
    "device",
    "distributions",
    "double",
    "dtype",
    "e",
    "enable_grad",
    "float",
    "float16",
    "float32",
    "float64",
    "func",
    "half",
    "inf",
    "inference_mode",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "linalg",
    "load",
    "long",
    "nan",
    "newaxis",
    "nn",
    "no_grad",
    "numel",
    "optim",
    "pi",
    "profiler",
    "random",
    "record",
    "replay",
    "save",
    "set_grad_enabled",
    "set_printoptions",
    "short",
    "special",
    "strided",
    "torch_version",
    "uint8",
    "utils",
    "version",
    "vmap",
]
__all__ += _arithmetic.__all__
__all__ += _arrange.__all__
__all__ += _counting.__all__
__all__ += _differences.__all__
__all__ += _drawing.__all__
__all__ += _einsum.__all__
__all__ += _absent.__all__
__all__ += _choice.__all__
__all__ += _decomposition.__all__
__all__ += _elementwise.__all__
__all__ += _extremes.__all__
__all__ += _functions.__all__
__all__ += _indexing.__all__
__all__ += _joining.__all__
__all__ += _linalg.__all__
__all__ += _masking.__all__
__all__ += _parts.__all__
__all__ += _terms.__all__
__all__ += _chains.__all__
__all__ += _transposes.__all__
__all__ += _norms.__all__
__all__ += _redrawing.__all__
__all__ += _replacing.__all__
__all__ += _reshaping.__all__
__all__ += _factors.__all__
__all__ += _products.__all__
__all__ += _random.__all__
__all__ += _reduction.__all__
__all__ += _scan.__all__
__all__ += _scatter.__all__
__all__ += _written.__all__
__all__ += _searching.__all__
__all__ += _settings.__all__
__all__ += _shape.__all__
__all__ += _shared.__all__
__all__ += _sorting.__all__
__all__ += _special.__all__
__all__ += _spectrum.__all__
__all__ += _statistics.__all__
__all__ += _storage.__all__
__all__ += _types.__all__
__all__ += constructors.__all__
__all__ += creation.__all__
__all__ += filled.__all__

methods.bind(Tensor)
_shared.bind(Tensor)
_late.offer(globals(), _late.FUNCTIONS)
_late.offer(vars(linalg), _late.LINALG)


def is_tensor(obj: object) -> "bool":  # type: ignore[valid-type]  # `bool` and `int` are torch functions here
    """Whether `obj` is a Tensor.

    Source: torch.is_tensor.

    >>> import engine as torch
    >>> torch.is_tensor(torch.tensor(1.0))
    True
    """
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> "int":  # type: ignore[valid-type]  # `bool` and `int` are torch functions here
    """The number of elements.

    Source: torch.numel.

    >>> import engine as torch
    >>> torch.numel(torch.zeros(2, 3))
    6
    """
    return input.numel()


_called.offer(globals())
_called.offer(vars(linalg), "linalg")
_called.offer(vars(special), "special")
_called.offer_joint(globals())
_called.offer_methods(Tensor)

inf = array.xp.inf
nan = array.xp.nan
pi = array.xp.pi
e = array.xp.e
newaxis = None
strided = _storage.strided_layout
