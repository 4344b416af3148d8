"""Memory, geometry and in-place forms: errors, values, layout, versions and nodes are torch's."""

from __future__ import annotations

ERRORS = """
torch.zeros(3).addmv_(x,x) | v.tril_() | v.fill_diagonal_(1) | b.fill_diagonal_(1)
x.contiguous(memory_format=torch.channels_last) | b.t_() | w.transpose_(0,5) | w.set_(d) | "a" in w | None in w
w.stride(5) | torch.zeros(1,3).addmm_(x,m)
"""

VALUES = """
torch.addmv(v[:3],x,v) | v[:3].clone().addmv_(x,v) | v[:3].clone().addmv_(x,v,beta=2,alpha=3)
torch.zeros(3,3).addmm_(x,m) | torch.zeros(3,3).addmm_(x,m,beta=0.5,alpha=2) | torch.zeros(4,4).addr_(v,v)
torch.zeros(3,3).addbmm_(b,c) | torch.zeros(2,3,3).baddbmm_(b,c) | w.tril_() | w.triu_(1) | w.fill_diagonal_(9)
torch.zeros(7,3).fill_diagonal_(5,wrap=True) | torch.zeros(7,3).fill_diagonal_(5)
torch.zeros(2,2,2).fill_diagonal_(1) | w.t().fill_diagonal_(3) | x.layout | torch.contiguous_format
torch.channels_last | torch.preserve_format | torch.strided | x.is_contiguous(memory_format=torch.contiguous_format)
torch.ones(2,3,4,5).contiguous(memory_format=torch.channels_last).stride()
torch.ones(2,3,4,5).contiguous(memory_format=torch.channels_last).is_contiguous()
torch.ones(2,3,4,5).contiguous(memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last)
x.t().clone(memory_format=torch.contiguous_format).stride() | x.t().clone().stride()
torch.as_strided_(x,(2,2),(1,2)) | torch.resize_as_(x,y) | w.t_() | w[0].unsqueeze_(0) | w.unsqueeze_(-1)
w.squeeze_() | torch.ones(1,3,1).squeeze_(0) | torch.ones(1,3,1).squeeze_((0,2)) | torch.ones(1,3,1).squeeze_(-1)
b.transpose_(0,-1) | w.swapaxes_(0,1) | w.swapdims_(0,1) | w.as_strided_((2,2),(1,2)) | w.resize_(2,2)
w.resize_((12,)) | w.resize_as_(y) | w.apply_(lambda a: a*2) | w.map_(x,lambda a,b: a-b) | w.storage_offset()
w[1,2:].storage_offset() | w.untyped_storage().nbytes() | w.is_set_to(w.view(3,4)) | w.is_set_to(x) | w.dim_order()
w.t().dim_order() | 1.0 in w | w.get_device() | w.is_conj() | w.resolve_conj() is w
w.data_ptr() == w[0].data_ptr() | w.data_ptr() == x.data_ptr() | w.stride() | w.size(dim=0)
"""

GRAPHS = """
(x*1).t_() | (x*1).transpose_(0,1) | (x*1).unsqueeze_(0) | (x*1).swapaxes_(0,1) | (b[:1]*1).squeeze_()
(b[:1]*1).squeeze_(0) | (b[:1]*1).squeeze_((0,)) | (x*1).as_strided_((2,2),(1,2)) | (x*1).tril_() | (x*1).triu_(1)
(sq*1).addmm_(x,m) | (v[:3]*1).addmv_(x,v) | (sq*1).addr_(v[:3],v[:3]) | (sq*1).addbmm_(b,c)
(b[:,:,:3]*1).baddbmm_(b,c) | (x*1).index_add_(0,i,w) | (x*1).index_copy_(0,i,w) | (x*1).index_fill_(0,i,2.0)
(x*1).index_fill_(0,i,s) | (x*1).scatter_(0,i2,w[:1]) | (x*1).scatter_(0,i2,1.5) | (x*1).scatter_add_(0,i2,w[:1])
(x*1).scatter_reduce_(0,i2,w[:1],'sum') | (x*1).index_reduce_(0,i,w,'prod') | (x*1).masked_scatter_(mask,w)
(x*1).put_(i,v[:3]) | (x*1).index_put_((i,),w) | (x*1).index_put_((i,),v,accumulate=True) | (x*1).t_().mul_(2)
(x*1)[0].unsqueeze_(0) | (x*1).view(12).unsqueeze_(0)
"""
