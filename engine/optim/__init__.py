"""torch.optim: optimisers, and in `lr_scheduler` the schedules of their learning rates."""

from . import lr_scheduler, swa_utils
from .adam import Adam, AdamW
from .adaptive import Adadelta, Adagrad, RMSprop
from .averaged import ASGD, Rprop
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .sgd import SGD
from .variants import Adamax, NAdam, RAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]
