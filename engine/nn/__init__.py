"""torch.nn: modules, parameters and containers, layers; `functional` has the functions, `init` the first values.

`__all__` lists torch's names in each module. Optimisers are in `optim`.
"""

from . import attention, functional, grad, init, modules, parameter, utils
from . import container as _container
from .constructor_names import name_constructors as _name_constructors
from .container import *
from .layers import activation as _activation
from .layers import adaptive as _adaptive
from .layers import attention as _attention
from .layers import convolution as _convolution
from .layers import distance as _distance
from .layers import dropout as _dropout
from .layers import image as _image
from .layers import lazy as _lazy
from .layers import linear as _linear
from .layers import loss as _loss
from .layers import normalization as _normalization
from .layers import padding as _padding
from .layers import pooling as _pooling
from .layers import rnn as _rnn
from .layers import sparse as _sparse
from .layers import transformer as _transformer
from .layers.activation import *
from .layers.adaptive import *
from .layers.attention import *
from .layers.convolution import *
from .layers.distance import *
from .layers.dropout import *
from .layers.image import *
from .layers.lazy import *
from .layers.linear import *
from .layers.loss import *
from .layers.normalization import *
from .layers.padding import *
from .layers.pooling import *
from .layers.rnn import *
from .layers.sparse import *
from .layers.transformer import *
from .module import Module
from .parameter import Buffer, Parameter

__all__ = ["Buffer", "Module", "Parameter", "attention", "functional", "grad", "init", "modules", "parameter", "utils"]
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

_name_constructors(globals(), __all__)
