"""torch.nn.functional: the functions of layers, one module per kind; `__all__` lists torch's names in each."""

from ...api.calls import public_functions as _called
from . import activation as _activation
from . import affine as _affine
from . import attention as _attention
from . import averaging as _averaging
from . import classes as _classes
from . import convolution as _convolution
from . import distance as _distance
from . import dropouts as _dropouts
from . import embeddings as _embeddings
from . import image as _image
from . import loss as _loss
from . import normalization as _normalization
from . import padding as _padding
from . import pooling as _pooling
from .activation import *
from .affine import *
from .attention import *
from .averaging import *
from .classes import *
from .convolution import *
from .distance import *
from .dropouts import *
from .embeddings import *
from .image import *
from .loss import *
from .normalization import *
from .padding import *
from .pooling import *

__all__: list[str] = []
__all__ += _activation.__all__
__all__ += _attention.__all__
__all__ += _averaging.__all__
__all__ += _classes.__all__
__all__ += _convolution.__all__
__all__ += _distance.__all__
__all__ += _dropouts.__all__
__all__ += _embeddings.__all__
__all__ += _image.__all__
__all__ += _affine.__all__
__all__ += _loss.__all__
__all__ += _normalization.__all__
__all__ += _padding.__all__
__all__ += _pooling.__all__

_called.offer(globals(), "nn.functional")
_called.offer_handed(globals())
