"""torch.nn.functional: the functions of layers, room by room; each room says in its `__all__` what is torch's."""

from . import activation as _activation
from .activation import *

__all__: list[str] = []
__all__ += _activation.__all__
