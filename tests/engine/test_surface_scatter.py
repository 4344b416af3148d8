"""Indexing by tensors beyond the sample rows: errors, values and nodes are torch's."""

from __future__ import annotations

import pytest

import engine
from tests.engine.saying import listed
from tests.engine.surface import same_error, same_graph, same_tensors

ERRORS = """
x.scatter(0,x,x) | x.scatter(0,i2,d) | x.scatter(0,i,x) | x.scatter(5,i2,x) | x.scatter(0,i2+5,x)
x.scatter(0,i2-3,x) | x.scatter(0,i2.t(),v) | x.scatter(0,torch.zeros(1,9,dtype=torch.long),x)
x.scatter(1,torch.zeros(4,1,dtype=torch.long),x) | x.scatter(0,i2,x,reduce='foo') | x.scatter(0,i2,1,reduce='foo')
x.scatter(0,i2,s) | x.scatter(0,i2,"a") | x.scatter(0,i2) | x.scatter_add(0,x,x) | x.scatter_add(0,i2,d)
x.scatter_add(0,i,x) | x.scatter_add(0,i2+5,x) | x.scatter_add(0,i2,v) | x.scatter_reduce(0,i2,x,'foo')
x.scatter_reduce(0,i2,d,'sum') | x.scatter_reduce(0,i2+9,x,'sum') | x.scatter_reduce(0,x,x,'sum') | x.gather(0,x)
x.gather(0,i) | x.gather(0,i2+5) | x.gather(0,i2-3) | x.gather(5,i2) | x.gather(0,torch.zeros(1,9,dtype=torch.long))
x.take_along_dim(i,0) | x.take_along_dim(x,0) | x.take(i+50) | x.take(x) | x.take(i.int()) | e.take(i) | x.put(i,v)
x.put(i,d[0,:3]) | x.put(i+50,v[:3]) | x.put(x,x) | x.put(i.int(),v[:3]) | e.put(i,v[:3]) | x.index_select(0,i2)
x.index_select(0,x) | x.index_select(0,i+5) | x.index_select(0,-i) | x.index_select(5,i) | s.index_select(0,i*0)
s.index_select(0,i) | e.index_select(0,i) | x.index_add(0,i,v) | x.index_add(0,i2,x) | x.index_add(0,x,x)
x.index_add(0,i+5,x) | x.index_add(0,i,d) | x.index_add(0,i[:2],x) | x.index_add(1,i,x) | x.index_add(0,i,x[:,:2])
v.index_add(0,torch.tensor(1),s) | s.index_add(0,torch.tensor([0]),v[:1]) | x.index_add(5,i,x) | x.index_add(0,-i,x)
x.index_copy(0,i,v) | x.index_copy(0,i2,x) | x.index_copy(0,x,x) | x.index_copy(0,i+5,x) | x.index_copy(0,i,d)
x.index_copy(0,i[:2],x) | x.index_copy(1,i,x) | x.index_copy(0,i,x[:,:2]) | x.index_copy(0,i.int(),x)
x.index_copy(0,-i,x) | x.index_fill(0,i,v) | x.index_fill(0,i2,1) | x.index_fill(0,x,1) | x.index_fill(0,i+5,1)
x.index_fill(5,i,1) | x.index_fill(0,i.int(),3) | x.index_reduce(0,i,x,'foo') | x.index_reduce(0,i,x,'sum')
x.index_reduce(0,i,d,'prod') | x.index_reduce(0,i+5,x,'prod') | x.index_reduce(0,i,v,'prod')
x.index_reduce(0,i2,x,'prod') | x.index_put((i,),d) | x.index_put((i+5,),v) | x.index_put((x,),v) | x.index_put(i,v)
x.index_put((i,),x[:,:2]) | x.index_put((i,i,i),s) | x.index_put((None,i),s) | x.index_put((i,),s.double())
x.masked_select(x) | x.masked_select(mask[:2]) | x.masked_scatter(mask,v) | x.masked_scatter(mask,v[:2])
x.masked_scatter(x,x) | x.masked_scatter(mask,d) | x.masked_scatter(mask[:2],x) | x.masked_select(mask.byte())
x.masked_scatter(mask,2.0) | torch.select_scatter(x,v,0,5) | torch.select_scatter(x,x,0,0)
x.slice_scatter(x,0,0,2) | x.slice_scatter(x,step=0) | x.diagonal_scatter(v) | x.as_strided_scatter(v,(2,),(1,))
s.select_scatter(s,0,0) | torch.searchsorted(x,v) | torch.searchsorted(v,v,right=True,side='left')
torch.searchsorted(v,v,side='mid') | torch.searchsorted(s,v) | torch.searchsorted(b,x)
torch.searchsorted(v,v,sorter=i) | torch.searchsorted(v,v,sorter=v) | torch.bucketize(x,x)
torch.searchsorted(x,0.5)
"""

VALUES = """
x.scatter(0,i2.int(),x) | s.scatter(0,torch.tensor(0),s) | s.scatter(0,torch.tensor([0]),torch.tensor([1.]))
v.scatter(0,torch.tensor(1),s) | x.scatter(0,i2[:,:0],x) | x.scatter(0,torch.tensor([],dtype=torch.long),x)
x.scatter(0,torch.tensor([]),x) | x.scatter(dim=0,index=i2,value=2) | i.scatter(0,i,2.5) | x.scatter(0,i2,True)
x.scatter_reduce(0,i2,x,reduce='amax',include_self=False) | i.scatter_reduce(0,i,i,'mean')
s.gather(0,torch.tensor(0)) | s.gather(0,torch.tensor([0,0])) | v.gather(0,torch.tensor(1)) | x.gather(0,i2.int())
x.gather(0,i2,sparse_grad=True) | x.gather(0,i2[:,:0]) | x.take_along_dim(i2,0) | x.take_along_dim(i)
x.take_along_dim(i2,1) | x.take(i) | x.take(-i) | x.take(i2) | s.take(i*0) | x.put(i,v[:3])
s.index_select(0,torch.tensor(0)) | x.index_select(0,torch.tensor(1)) | x.index_select(0,i.int())
x.index_select(0,i[:0]) | x.index_add(0,i,x,alpha=2) | i.index_add(0,i,i,alpha=1.5) | x.index_add(0,i.int(),x)
v.index_copy(0,torch.tensor(1),s) | x.index_fill(0,i,s) | x.index_fill(0,-i,1) | i.index_fill(0,i,1.5)
s.index_fill(0,torch.tensor([0]),3) | x.index_fill(0,i,d[0,0]) | i.index_fill(0,i,s)
x.index_reduce(0,i,x,'mean',include_self=False) | i.index_reduce(0,i,i,'mean') | x.index_put((i,),v)
x.index_put((i,i),s,accumulate=True) | x.index_put((mask,),s) | torch.index_put(x,(i,),v) | x.masked_select(mask)
v.masked_select(mask) | s.masked_select(torch.tensor(True)) | v.masked_scatter(mask,x)
torch.select_scatter(x,d[0],0,0) | x.slice_scatter(x[:1],0,-1) | x.slice_scatter(x[:2],0,0,9,2)
x.diagonal_scatter(v[:3]) | x.as_strided_scatter(s,(),()) | torch.nonzero(x) | torch.nonzero(s) | torch.nonzero(x>5)
torch.argwhere(x) | torch.argwhere(s) | torch.argwhere(s*0) | torch.nonzero(s*0) | torch.nonzero(e)
torch.searchsorted(v,x) | torch.searchsorted(v,0.6) | torch.searchsorted(x,x) | torch.searchsorted(v,v,right=True)
torch.searchsorted(v,v,side='right') | torch.searchsorted(v,v,out_int32=True) | torch.searchsorted(v,i)
torch.searchsorted(v,v,sorter=torch.arange(4)) | torch.bucketize(x,v) | torch.bucketize(0.6,v)
torch.bucketize(x,v,right=True,out_int32=True) | torch.bucketize(s,v) | torch.searchsorted(e,v)
torch.searchsorted(v.double(),v)| torch.isin(x,v) | torch.isin(x,1.0) | torch.isin(1.0,x)
torch.isin(i,i[:1],invert=True) | torch.isin(i,i,assume_unique=True)
"""

GRAPHS = """
torch.diagonal_scatter(x, x[:,0][:3]) | x.scatter(0,i2,2.0) | x.scatter_reduce(0,i2,y,'prod')
x.scatter_reduce(0,i2,y,'amax') | x.index_fill(0,i,2.0) | x.index_fill(0,i,s) | x.index_put((i,),v,accumulate=True)
x.take(i) | x.put(i, y[0,:3]) | x.put(i, y[0,:3], True) | x.masked_select(mask) | x.masked_scatter(mask,w)
x.take_along_dim(i2,0) | x.take_along_dim(i) | x.gather(0,i2) | x.index_select(0,i) | torch.select_scatter(x,v,0,1)
torch.slice_scatter(x,y[:2],0,0,2)
"""


@pytest.mark.parametrize("expression", listed(ERRORS))
def test_error_is_torchs_in_its_first_line(expression: str) -> None:
    same_error(expression, pytest.importorskip("torch"))


@pytest.mark.parametrize("expression", listed(VALUES))
def test_values_layout_and_views_are_torchs(expression: str) -> None:
    same_tensors(expression, pytest.importorskip("torch"))


@pytest.mark.parametrize("expression", listed(GRAPHS))
def test_nodes_and_gradients_are_torchs(expression: str) -> None:
    same_graph(expression, pytest.importorskip("torch"))


@pytest.mark.parametrize("write", ["scatter", "scatter_add", "scatter_reduce"])
def test_gradient_of_a_source_larger_than_its_index_is_refused(write: str) -> None:
    torch = pytest.importorskip("torch")
    said = []
    for library in (engine, torch):
        src = library.ones(3, 4, requires_grad=True)
        more = ("sum",) if write == "scatter_reduce" else ()
        made = getattr(library.zeros(3, 4), write)(0, library.tensor([[0, 2, 1, 1]]), src, *more)
        with pytest.raises(RuntimeError, match="returned an invalid gradient at index 1") as raised:
            made.sum().backward()
        said.append(str(raised.value))
    assert said[0] == said[1]
