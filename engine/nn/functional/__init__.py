"""torch.nn.functional: the functions of layers, room by room; each room says in its `__all__` what is torch's."""

from . import activation as _activation
from . import linear as _linear
from . import normalization as _normalization
from .activation import *
from .linear import *
from .normalization import *

__all__: list[str] = []
__all__ += _activation.__all__
__all__ += _linear.__all__
__all__ += _normalization.__all__
