"""An autograd engine with PyTorch's names and `backward()` semantics.

`import engine as torch` runs a torch snippet; `with engine.record() as trace:` records what it does.
"""

from . import autograd, distributions, func, nn, optim, utils
from .api import settings as _settings
from .api.calls import absent_functions as _left_out
from .api.calls import functions as _functions
from .api.calls import out as _out
from .api.calls import public_functions as _public_functions
from .api.calls.absent_functions import *
from .api.calls.absent_functions import bfloat16_dtype as bfloat16
from .api.calls.absent_functions import complex64_dtype as cfloat
from .api.calls.absent_functions import complex64_dtype as complex64
from .api.calls.absent_functions import complex128_dtype as cdouble
from .api.calls.absent_functions import complex128_dtype as complex128
from .api.calls.functions import *
from .api.creation import constructors, creation, fills
from .api.creation import counting as _counting
from .api.creation import types as _types
from .api.creation.constructors import *
from .api.creation.counting import *
from .api.creation.creation import *
from .api.creation.fills import *
from .api.creation.types import *
from .api.index import indexing as _indexing
from .api.index import masking as _masking
from .api.index import scatter as _scatter
from .api.index.indexing import *
from .api.index.masking import *
from .api.index.scatter import *
from .api.inplace import inplace_functions as _inplace_functions
from .api.inplace.inplace_functions import *
from .api.linalg import chains as _chains
from .api.linalg import decomposition as _decomposition
from .api.linalg import einsum as _einsum
from .api.linalg import factors as _factors
from .api.linalg import linalg as _linalg
from .api.linalg import norms as _norms
from .api.linalg import products as _products
from .api.linalg import spectrum as _spectrum
from .api.linalg.chains import *
from .api.linalg.decomposition import *
from .api.linalg.einsum import *
from .api.linalg.factors import *
from .api.linalg.linalg import *
from .api.linalg.norms import *
from .api.linalg.products import *
from .api.linalg.spectrum import *
from .api.math import arithmetic as _arithmetic
from .api.math import choice as _choice
from .api.math import differences as _differences
from .api.math import elementwise as _elementwise
from .api.math import special as _special
from .api.math import terms as _terms
from .api.math.arithmetic import *
from .api.math.choice import *
from .api.math.differences import *
from .api.math.elementwise import *
from .api.math.special import *
from .api.math.terms import *
from .api.printing import set_printoptions
from .api.random import draws as _draws
from .api.random import inplace_draws as _inplace_draws
from .api.random import random as _random
from .api.random.draws import *
from .api.random.inplace_draws import *
from .api.random.random import *
from .api.reduce import extremes as _extremes
from .api.reduce import reduction as _reduction
from .api.reduce import scan as _scan
from .api.reduce import searching as _searching
from .api.reduce import sorting as _sorting
from .api.reduce import statistics as _statistics
from .api.reduce.extremes import *
from .api.reduce.reduction import *
from .api.reduce.scan import *
from .api.reduce.searching import *
from .api.reduce.sorting import *
from .api.reduce.statistics import *
from .api.settings import *
from .api.shape import arrange as _arrange
from .api.shape import joining as _joining
from .api.shape import parts as _parts
from .api.shape import replacing as _replacing
from .api.shape import reshaping as _reshaping
from .api.shape import shape as _shape
from .api.shape import storage as _storage
from .api.shape import transposes as _transposes
from .api.shape.arrange import *
from .api.shape.joining import *
from .api.shape.parts import *
from .api.shape.replacing import *
from .api.shape.reshaping import *
from .api.shape.shape import *
from .api.shape.storage import *
from .api.shape.transposes import *
from .arrays import array
from .arrays.array import bool_ as bool
from .arrays.array import (
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
from .arrays.array import float32 as float
from .arrays.array import int32 as int
from .arrays.size import Size
from .backward.anomaly import is_anomaly_enabled
from .func import vmap
from .namespaces import (
    accelerator,
    amp,
    backends,
    cuda,
    linalg,
    methods,
    profiler,
    random,
    special,
    torch_version,
    version,
)
from .namespaces.amp import GradScaler, autocast
from .namespaces.torch_version import __version__
from .nn import aliases as _aliases
from .nn.aliases import *
from .ops.shape import detach
from .replay.replay import replay
from .tensor import attributes as attributes  # gives nodes what they keep as attributes
from .tensor.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .tensor.tensor import Tensor
from .trace import source as _source
from .trace.events import Trace
from .trace.file import tracefile as tracefile  # gives Trace its save and open
from .trace.record import record
from .utils.serialization import load, save

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
    "cdouble",
    "cfloat",
    "complex64",
    "complex128",
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
__all__ += _draws.__all__
__all__ += _einsum.__all__
__all__ += _left_out.__all__
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
__all__ += _inplace_draws.__all__
__all__ += _replacing.__all__
__all__ += _reshaping.__all__
__all__ += _factors.__all__
__all__ += _products.__all__
__all__ += _random.__all__
__all__ += _reduction.__all__
__all__ += _scan.__all__
__all__ += _scatter.__all__
__all__ += _inplace_functions.__all__
__all__ += _searching.__all__
__all__ += _settings.__all__
__all__ += _shape.__all__
__all__ += _aliases.__all__
__all__ += _sorting.__all__
__all__ += _special.__all__
__all__ += _spectrum.__all__
__all__ += _statistics.__all__
__all__ += _storage.__all__
__all__ += _types.__all__
__all__ += constructors.__all__
__all__ += creation.__all__
__all__ += fills.__all__

methods.bind(Tensor)
_aliases.bind(Tensor)
_source.METHODS.update(dir(Tensor))
_out.offer(globals(), _out.WITH_OUT)
_out.offer(vars(linalg), _out.LINALG_WITH_OUT)


def is_tensor(obj: object) -> "bool":  # type: ignore[valid-type]  # `bool` and `int` are torch functions here
    """Return whether `obj` is a Tensor.

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


_public_functions.offer(globals())
_public_functions.offer(vars(linalg), "linalg")
_public_functions.offer(vars(special), "special")
_public_functions.offer_joint(globals())
_public_functions.offer_methods(Tensor)

inf = array.xp.inf
nan = array.xp.nan
pi = array.xp.pi
e = array.xp.e
newaxis = None
strided = _storage.strided_layout
