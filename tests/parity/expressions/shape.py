"""Shapes, views and parts beyond the sample rows: errors, values, layout and nodes are torch's."""

from __future__ import annotations

ERRORS = """
x.sum_to_size(5) | x.sum_to_size(3, 4, 1)
x.repeat(2) | x.repeat(2,-1) | s.repeat() | x.tile() | torch.tile(x,2) | x.roll((1,2),0) | x.roll(()) | x.roll(1,5)
x.rot90(1,(0,)) | v.rot90() | x.rot90(1,(0,0)) | x.rot90(1,(0,5)) | x.rot90(1,(0,-2)) | torch.fliplr(v)
torch.flipud(s) | x.flip(0,0) | x.flip(5) | x.repeat_interleave(-1) | x.repeat_interleave(i)
x.repeat_interleave(i,1) | x.repeat_interleave(x,0) | x.repeat_interleave(i2,0) | torch.repeat_interleave(x)
x.repeat_interleave(i,0,output_size=7) | torch.repeat_interleave(torch.tensor([1,-1])) | x.repeat_interleave(2,5)
s.repeat_interleave(2,0) | torch.diag(b) | torch.diag(s) | x.diagonal(0,0,0) | v.diagonal() | x.diagonal(0,0,3)
torch.diag_embed(s) | torch.diag_embed(v,0,0,0) | x.unfold(0,5,1) | x.unfold(0,-1,1) | x.unfold(0,1,0)
s.unfold(0,2,1) | x.unfold(3,1,1) | x.as_strided((2,),(1,2)) | x.as_strided((20,),(1,)) | x.as_strided((2,),(-1,))
x.as_strided((2,),(1,),50) | x.as_strided((-2,),(1,)) | x.as_strided((2,),(1,),-1) | x.split(-1) | x.split(0)
s.split(1) | x.split([1,1]) | x.split([4,-1]) | x.split(2,3) | x.chunk(0) | s.chunk(1) | x.tensor_split(0)
s.tensor_split(1) | x.tensor_split(torch.tensor([1.])) | x.hsplit(3) | s.hsplit(1) | v.vsplit(1) | x.dsplit(1)
x.hsplit(0) | x.vsplit(2) | x.split("a") | x.chunk(1.5) | x.split(2.0) | x.split_with_sizes([1,1])
torch.meshgrid(v,x) | torch.meshgrid() | torch.meshgrid(v,i) | torch.meshgrid(v,v,indexing='zz')
torch.cartesian_prod(x) | torch.cartesian_prod(v,i) | torch.combinations(x) | torch.combinations(v,-1)
torch.block_diag(b) | torch.broadcast_tensors(x,y) | torch.broadcast_shapes((2,),(3,))
torch.broadcast_shapes((2,1),(3,),2) | torch.broadcast_shapes((-1,),(2,)) | torch.dstack([]) | torch.dstack([x,y])
torch.hstack([]) | torch.column_stack([v,x]) | torch.column_stack([]) | torch.constant_pad_nd(x,(1,))
torch.constant_pad_nd(v,(1,1,1,1)) | torch.constant_pad_nd(x,(-3,-3)) | x.movedim((0,1),(1,))
x.movedim((0,0),(1,0)) | x.movedim(0,5) | v.adjoint() | v.mH | b.H | x.swapdims(0,9) | x.narrow(0,4,1)
x.narrow(0,0,9) | x.narrow(0,0,-1) | s.narrow(0,0,1) | x.narrow(0,-5,1) | x.narrow_copy(0,5,5) | x.select(3,0)
x.select(0,5) | s.select(0,0) | x.unflatten(0,(2,2)) | x.unflatten(1,()) | v[1:].view(torch.float64)
torch.squeeze(x,(0,0)) | x.unsqueeze(-4)
"""

VALUES = """
x.repeat(0,1) | x.repeat((2,2)) | s.repeat(2) | e.roll(1) | s.roll(1) | x.rot90(1,(0,-1))
torch.repeat_interleave(i) | x.repeat_interleave(i,0,output_size=3) | torch.repeat_interleave(i,output_size=3)
x.repeat_interleave(torch.tensor([1,0,2],dtype=torch.int32),0) | x.diagonal(9) | x.diagonal(-1)
torch.diag_embed(v,-2) | torch.diagflat(s) | torch.diagflat(x,1) | s.unfold(0,1,1) | x.unfold(0,0,1)
x[1:].as_strided((2,),(1,)) | e.split(0) | e.split(2) | e.chunk(3) | x.chunk(7) | x.tensor_split(4)
x.tensor_split(torch.tensor(2)) | x.tensor_split(torch.tensor([1,2])) | x.tensor_split((2,1))
x.tensor_split((-1,)) | x.hsplit([1,3]) | torch.split(x, (1,2)) | torch.split_with_sizes(x,[1,2])
x.unsafe_split(2) | x.unsafe_chunk(2) | torch.meshgrid([v,s]) | torch.meshgrid(v,v,s,indexing='xy')
torch.cartesian_prod(v,v,v) | torch.combinations(v,9) | torch.combinations(v,0) | torch.block_diag()
torch.block_diag(x,i) | torch.block_diag(s,v) | torch.block_diag(e,x) | torch.broadcast_tensors(x,v)
torch.broadcast_tensors() | torch.atleast_1d([s,v]) | torch.atleast_1d(s) | torch.atleast_3d(x,v,s)
torch.vstack([v,x]) | torch.row_stack([v,x]) | torch.concat([x,x],dim=-1) | torch.concatenate([x,x],axis=1)
torch.cat([x,x],axis=1) | torch.cat((x,),0) | torch.dstack([s,s]) | torch.constant_pad_nd(x,(1,1),2.5)
torch.constant_pad_nd(i,(1,1),2.5) | torch.constant_pad_nd(x,(-2,1,1,-1)) | torch.constant_pad_nd(x,())
x.moveaxis(0,1) | s.movedim(0,0) | s.adjoint() | b.T | s.T | s.mT | x.narrow(0,-1,1) | x.narrow(0,torch.tensor(1),1)
x.unflatten(1,(2,-1)) | x.view(torch.int32) | x.view(torch.float64) | x.view(torch.int16) | x.expand((2,3,4))
x.expand(-1,-1) | x.flatten(0,1) | x.ravel()
"""

GRAPHS = """
x.sum_to_size(1, 4) | x.sum_to_size(4) | b.sum_to_size(3, 1) | b.sum_to_size(()) | x.sum_to_size((3, 4))
x.repeat(2,2) | x.tile(2) | torch.tile(v,(2,2)) | x.roll(1) | x.roll(1,0) | torch.roll(x,(1,2),(0,1)) | x.rot90()
torch.rot90(x,2) | torch.fliplr(x) | torch.flipud(x) | x.diagonal() | torch.diag(x) | torch.diag(v)
torch.diag_embed(x) | torch.diagflat(x) | torch.diagflat(v) | x.split(2) | x.split([1,2])
torch.split_with_sizes(x,[1,2]) | x.chunk(2) | x.chunk(3,1) | x.tensor_split(2,1) | x.tensor_split((1,2))
torch.unsafe_split(x,2) | torch.unsafe_chunk(x,2) | x.hsplit(2) | x.vsplit(3) | b.dsplit(2) | v.hsplit(2)
x.unfold(1,2,1) | x.as_strided((2,2),(1,2)) | x.as_strided((2,2),(1,2),1) | torch.constant_pad_nd(x,(1,1))
torch.block_diag(x,y,v) | torch.narrow_copy(x,0,0,2) | torch.view_copy(x,(12,)) | torch.meshgrid(v,s)
torch.cartesian_prod(v) | torch.combinations(v) | torch.combinations(v,3,True) | torch.combinations(v,1)
torch.atleast_1d(s) | torch.atleast_2d(s) | torch.atleast_3d(s) | torch.atleast_3d(v) | torch.atleast_3d(x)
torch.atleast_1d(s,v) | torch.column_stack([v,x.t()]) | torch.column_stack([s,s]) | torch.hstack([s,s])
torch.vstack([x,y]) | torch.concat([x,y]) | x.repeat_interleave(2) | x.repeat_interleave(2,0)
x.repeat_interleave(i,0) | x.repeat_interleave(torch.tensor([2]),1) | x.repeat_interleave(torch.tensor(2))
s.repeat_interleave(3) | x.moveaxis(0,1) | x.movedim(0,1) | x.swapaxes(0,1) | x.swapdims(0,1) | x.adjoint() | x.mH
x.H | x.T | b.mT | torch.broadcast_tensors(v,x) | torch.broadcast_to(v,(3,4)) | x.unflatten(1,(2,2)) | x.ravel()
x.t().ravel() | x.flatten() | x.expand(2,3,4) | b.squeeze() | x.squeeze(0) | x.squeeze((0,1)) | x.narrow(0,1,2)
x.real | x.tril() | x.triu(1) | x.ravel() | x.fliplr() | x.unbind() | x.unbind(1)
"""
