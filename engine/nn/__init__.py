"""torch.nn: modules, parameters and containers, layers; `functional` has the functions, `init` the first values.

`__all__` lists torch's names in each module.
"""

from . import activation as _activation
from . import adaptive as _adaptive
from . import attention as _attention
from . import container as _container
from . import convolution as _convolution
from . import distance as _distance
from . import dropout as _dropout
from . import functional, grad, init, modules, parameter, utils
from . import image as _image
from . import lazy as _lazy
from . import linear as _linear
from . import loss as _loss
from . import normalization as _normalization
from . import padding as _padding
from . import pooling as _pooling
from . import rnn as _rnn
from . import sparse as _sparse
from . import transformer as _transformer
from .activation import *
from .adaptive import *
from .attention import *
from .container import *
from .convolution import *
from .distance import *
from .dropout import *
from .image import *
from .lazy import *
from .linear import *
from .loss import *
from .module import Module
from .normalization import *
from .padding import *
from .parameter import Buffer, Parameter
from .pooling import *
from .rnn import *
from .signed import sign as _sign
from .sparse import *
from .transformer import *

__all__ = ["Buffer", "Module", "Parameter", "functional", "grad", "init", "modules", "parameter", "utils"]
__all__ += _activation.__all__
__all__ += _adaptive.__all__
__all__ += _container.__all__
__all__ += _convolution.__all__
__all__ += _distance.__all__
__all__ += _dropout.__all__
__all__ += _image.__all__
__all__ += _lazy.__all__
__all__ += _linear.__all__
__all__ += _loss.__all__
__all__ += _normalization.__all__
__all__ += _padding.__all__
__all__ += _pooling.__all__
__all__ += _sparse.__all__
__all__ += _attention.__all__
__all__ += _rnn.__all__
__all__ += _transformer.__all__

_sign(globals(), __all__)
