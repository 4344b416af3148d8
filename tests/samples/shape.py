"""Rows of engine/ops/shape.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, Sample, begin, real

begin()

ROWS = [
    Sample("to", (real(2, 3),), {"dtype": np.dtype("float32")}, "x.to(torch.float32)", kink=True),
    Sample(
        "to.device",
        (real(2, 3),),
        {"device": "cpu", "source": "cpu"},
        reason="x.to('cpu') of a tensor that is there is the tensor",
    ),
    Sample("sum_to_size", (real(2, 3),), {"size": (1, 3)}, reason="x.sum_to_size is a sum over dimensions, and a view"),
    Sample("expand", (real(3, 1),), {"size": (2, 3, 4)}, "x.expand(2, -1, 4)"),
    Sample("unsqueeze", (real(2, 3),), {"dim": 2}, "x.unsqueeze(-1)"),
    Sample("squeeze", (real(1, 3, 1),), spelled="x.squeeze()"),
    Sample("squeeze.dim", (real(1, 3, 1),), {"dim": 0}, "x.squeeze(0)"),
    Sample("squeeze.dim", (real(2, 3),), {"dim": 0}, "x.squeeze(0)"),
    Sample("squeeze.dims", (real(1, 3, 1),), {"dim": (0, 1)}, "x.squeeze((0, 1))"),
    Sample("squeeze.row", (real(1, 3),), {"dim": 0}, reason="the end of vector @ matrix"),
    Sample("view", (real(2, 3),), {"size": (3, 2)}, "x.view(3, -1)"),
    Sample("_reshape_alias", (real(3, 2).T,), {"size": (2, 3, 1)}, reason="reshape of a view that is no copy"),
    Sample("_unsafe_view", (real(2, 3),), {"size": (6,)}, reason="the end of a reshape that copies, and of matmul"),
    Sample("reshape", (real(2, 3),), {"size": (3, 2)}, reason=INNER),
    Sample("view.dtype", (real(2, 3),), {"dtype": np.dtype("int64")}, reason="the same bytes: no derivative"),
    Sample("transpose_", (real(2, 3),), {"dim0": 0, "dim1": 1}, "x.clone().transpose_(0, 1)"),
    Sample("t_", (real(2, 3),), spelled="x.clone().t_()"),
    Sample("unsqueeze_", (real(2, 3),), {"dim": 1}, "x.clone().unsqueeze_(1)"),
    Sample("squeeze_", (real(1, 3, 1),), spelled="x.clone().squeeze_()"),
    Sample("squeeze_.dim", (real(1, 3, 1),), {"dim": 0}, "x.clone().squeeze_(0)"),
    Sample("squeeze_.dims", (real(1, 3, 1),), {"dim": (0, 1)}, "x.clone().squeeze_((0, 1))"),
    Sample("clone", (real(2, 3),), spelled="x.clone()"),
    Sample("alias", (real(2, 3),), spelled="x[...]"),
    Sample("detach", (real(2, 3),), spelled="x.detach()"),
    Sample("data", (real(2, 3),), spelled="x.data"),
    Sample("transpose", (real(2, 3, 2),), {"dim0": 0, "dim1": 2}, "x.transpose(0, -1)"),
    Sample("permute", (real(2, 3, 4),), {"dims": (2, 0, 1)}, "x.permute(2, 0, 1)"),
    Sample("t", (real(2, 3),), spelled="x.t()"),
    Sample("flip", (real(2, 3),), {"dims": (1,)}, "x.flip(1)"),
    Sample("tril", (real(2, 3, 3),), {"diagonal": -1}, "torch.tril(x, -1)"),
    Sample("triu", (real(2, 3),), {"diagonal": 1}, "x.triu(1)"),
    Sample("zero_of", (real(2),), {"size": (3,)}, reason=INNER),
    Sample("hung_on", (np.array([1.0, 2.0]), np.array([3.0])), {"zeros": True}, reason=INNER),
    Sample("cat", ([real(2, 3), real(1, 3)],), {"dim": 0}, "torch.cat(x)"),
    Sample("cat", ([real(2, 3), real(2, 2), np.zeros((0,))],), {"dim": 1}, "torch.cat(x, -1)"),
    Sample("clone_gradient", (real(2, 3),), reason=INNER),
    Sample("unbind", (real(2, 3),), {"dim": 1}, "x.unbind(1)"),
    Sample("stack", ([real(2, 3), real(2, 3)],), {"dim": 1}, "torch.stack(x, 1)"),
    Sample("select", (real(2, 3),), {"dim": 1, "index": 2}, "x[:, -1]"),
    Sample("slice", (real(5, 3),), {"dim": 0, "start": 1, "end": 5, "step": 2}, "x[1::2]"),
    Sample("select_backward", (real(2),), {"sizes": (2, 3), "dim": 1, "index": 2}, reason=INNER),
    Sample("slice_backward", (real(2, 3),), {"sizes": (5, 3), "dim": 0, "start": 1, "end": 5, "step": 2}, reason=INNER),
]
