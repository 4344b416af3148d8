"""`x[key] = value` in all its forms, and `out=`: values, versions, nodes and errors are torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.saying import listed

WRITES = """
z[0]=1 | z[0]=[1,2,3,4] | z[0]=np.array([1.,2,3,4],dtype='float32') | z[:,0]=L.tensor([1,2,3])
z[0]=L.tensor([1.,2.]) | z[0]=(1,2,3,4) | z[0]=True | z[0]=None | z[0]='a' | z[mask]=0 | z[mask]=L.tensor(2.)
z[mask]=L.tensor([1.,2.]) | z[mask]=[1,2] | z[[0,1]]=5 | z[[0,1]]=L.zeros(2,4) | z[[0,1]]=L.zeros(3,4)
z[L.tensor([0,1]),L.tensor([1,2])]=L.tensor([9.,8.]) | z[...]=3 | z[...,1]=L.tensor(4.) | z[None]=1
z[0,0]=L.tensor(3.) | z[0,0]=L.tensor([3.]) | z[0,0]=L.tensor([[3.]]) | z[0,0]=L.tensor([3.,4.])
z[1:,::2]=L.ones(2,2) | z[1:,::2]=7.5 | z[::2]=z[1:2] | z[5]=1 | z[0,9]=1 | z[-1]=2 | z[True]=5 | z[False]=5
z[z>100]=1 | z[0]=L.tensor([1,2,3,4],dtype=L.float64) | z[L.tensor(1)]=3 | z[L.tensor([True,False,True])]=0
z[:,L.tensor([0,1])]=L.tensor([[1.],[2.],[3.]]) | z[0][1]=5 | z.T[0]=1 | z[1]+=1 | z[mask]*=2 | z[:,1]-=z[:,0]
z[np.array([0,1])]=1 | z[np.array([True,False,True])]=1 | z[np.int64(1)]=4 | z[slice(0,2)]=0 | z[range(2)]=0
z[(0,1)]=3 | z[((0,1),)]=3 | z[1.5]=2 | z['a']=1 | k[0]=1.7 | k[0]=L.tensor(1.7) | k[:2]=L.tensor([1.5,2.5])
k[k>1]=0 | bo[0]=2 | z[0]=L.tensor([[1.,2.,3.,4.]]) | z[0]=L.ones(2,4) | z[0:0]=5 | z[0:0]=L.ones(0,4)
z[mask]=L.tensor([1.,2.,3.,4.,5.,6.,7.,8.],dtype=L.float64) | z[[True,False,True]]=1 | z[[0,1],[1,2]]=L.tensor(1.)
del z[0] | z[None,0]=L.ones(4) | z[L.tensor([0,0])]=L.tensor([[1.],[2.]]) | z[0]=float('nan') | s[()]=4 | s[...]=5
s[0]=1 | z[2**40]=1 | z[L.tensor([5])]=1 | z[:, mask[0]]=0 | z[mask[:,0]]=L.zeros(4) | s[None]=2
z[L.zeros(0,dtype=L.long)]=1 | z[L.tensor([[0],[7]]),[1,9]]=1 | z[[0,8],[9,0]]=1
z[L.tensor([[5],[0]]),L.tensor([-9])]=1 | z[[],[9]]=1 | z[[9],[]]=1 | z[:,0:0][[5],[0]]=1
"""
STRAYS = """
z[L.tensor([[0],[7]]),[1,9]] | z[[0,8],[9,0]] | z[[1,5],[2,-9]] | z[None][[0,0],[1,5],[2,9]] | z[[],[9]] | z[[9],[]]
z[:,0:0][[5],[0]] | z[mask[:,0],L.tensor([0,9])] | z[L.tensor([True,False,True]),L.tensor([0,9])]
z.view(3,2,2)[L.tensor([True,False,True]),L.tensor([0,5]),L.tensor([6,0])] | z[[0,1],[0,1,2]]
z.view(3,2,2)[L.ones(3,2)>0,L.tensor([7])]
"""
OUT = """
cat([x, x], out=o) | stack([x, x], 1, out=o) | hstack([x, x], out=o) | gather(x, 0, i, out=o) | take(x, i, out=o)
index_select(x, 1, i[0], out=o) | masked_select(x, x > 4, out=o) | tensordot(x, x, ([1], [1]), out=o) | diag(x, out=o)
kron(x, x, out=o) | arange(3.0, out=o) | linspace(0, 1, 3, out=o) | eye(2, out=o) | inner(x, x, out=o)
"""
X = np.arange(1.0, 13.0, dtype="float32").reshape(3, 4)


def run(statement: str, library: Any, grads: bool) -> Any:
    """What a statement leaves behind, or the first line of its error."""
    found = {
        "L": library, "np": np, "z": library.tensor(X, requires_grad=grads) * 1, "mask": library.tensor(X > 4),
        "k": library.arange(4), "bo": library.tensor([True, False]), "s": library.tensor(2.0) * 1,
    }  # fmt: skip
    try:
        exec(statement, found)
    except Exception as error:  # noqa: BLE001 - which one is what the test is about
        return type(error).__name__, str(error).split("\n")[0]
    written = [found[name] for name in ("z", "k", "bo", "s")]
    nodes = [w.grad_fn and w.grad_fn.name().replace("torch::autograd::", "") for w in written]
    return [repr(w.tolist()) for w in written], [w._version for w in written], nodes


@pytest.mark.parametrize("grads", [False, True])
@batches("statement", listed(WRITES))
def test_written_item_is_as_in_torch(statement: str, grads: bool) -> None:
    torch = pytest.importorskip("torch")
    assert run(statement, engine, grads) == run(statement, torch, grads)


@batches("expression", listed(STRAYS))
def test_first_element_that_is_not_there_is_named_as_in_torch(expression: str) -> None:
    torch = pytest.importorskip("torch")
    statement = f"k = {expression}"
    assert run(statement, engine, False) == run(statement, torch, False)


@batches("call", listed(OUT))
def test_result_is_written_into_out(call: str) -> None:
    torch = pytest.importorskip("torch")
    seen = []
    for library in (engine, torch):
        out = library.empty(0)
        found = {"x": library.tensor(X), "i": library.tensor([[0, 2, 1, 1]]), "o": out}
        made = eval(f"L.{call}", {**found, "L": library})  # noqa: S307 - calls of this file
        assert made is out
        seen.append((tuple(out.shape), str(out.dtype), out.tolist()))
    assert seen[0] == seen[1]
