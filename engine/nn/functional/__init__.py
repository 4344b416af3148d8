"""torch.nn.functional: the functions of layers, room by room; each room says in its `__all__` what is torch's."""

from . import activation as _activation
from . import classes as _classes
from . import convolution as _convolution
from . import distance as _distance
from . import linear as _linear
from . import loss as _loss
from . import margin as _margin
from . import normalization as _normalization
from .activation import *
from .classes import *
from .convolution import *
from .distance import *
from .linear import *
from .loss import *
from .margin import *
from .normalization import *

__all__: list[str] = []
__all__ += _activation.__all__
__all__ += _classes.__all__
__all__ += _convolution.__all__
__all__ += _distance.__all__
__all__ += _linear.__all__
__all__ += _loss.__all__
__all__ += _margin.__all__
__all__ += _normalization.__all__
