"""Products beyond the sample rows: errors, values and nodes are torch's."""

from __future__ import annotations

ERRORS = """
torch.addmv(v,x,v) | torch.addmv(s,x,x) | torch.addmv(s,x,v[:3]) | torch.addmv(v[:3],x,v.double())
torch.addmv(v[:3].double(),x,v) | torch.addmv(x,x,v) | torch.addmv(s,v,v) | torch.addr(x,x,v) | torch.addr(x,v,v)
torch.addr(i,i,i,alpha=1.5) | torch.addr(x,v,x) | torch.addbmm(x,b,b) | torch.addbmm(s,b,c[:1])
torch.addbmm(s,x,c) | torch.addbmm(v,b,c) | torch.addbmm(s.double(),b,c) | torch.addbmm(s,b,x)
torch.baddbmm(s,b,b) | torch.baddbmm(v,b,c) | torch.baddbmm(s,x,c) | torch.baddbmm(s,b,c.double())
torch.baddbmm(s.double(),b,c) | torch.baddbmm(s,b,c[:1]) | torch.baddbmm(i,b,c) | torch.vdot(v,x)
torch.vdot(v,v[:3]) | torch.vdot(v,v.double()) | torch.inner(v,v[:3]) | torch.inner(x,m) | torch.inner(x,v.double())
torch.outer(x,v) | torch.outer(v,x) | torch.cross(x,x,dim=1) | torch.cross(x,y,0) | torch.cross(x[:, :3],y[:, :3],1)
torch.linalg.cross(x,x) | torch.linalg.cross(x,v) | torch.linalg.cross(sq,sq[0]) | torch.cross(v,v)
torch.cross(sq,sq.double(),dim=0) | torch.cdist(x,v) | torch.cdist(x,m) | torch.cdist(x,y,p=-1)
torch.cdist(i[None],i[None]) | torch.cdist(x,y,compute_mode='foo') | torch.cdist(x,y.double())
torch.cdist(x.half(),y.half()) | torch.tensordot(x,m,3) | torch.tensordot(x,m,-1) | torch.tensordot(x,x,1)
torch.tensordot(x,x,([0],[0,1])) | torch.tensordot(x,x,([0,0],[0,1])) | torch.tensordot(x,x,([5],[0]))
torch.tensordot(x,m.double(),1) | torch.chain_matmul() | torch.chain_matmul(v,x) | torch.linalg.multi_dot([x])
torch.linalg.multi_dot([x,x]) | torch.linalg.multi_dot([x,b,x]) | torch.linalg.multi_dot([x,v,x])
torch.linalg.multi_dot([b,x]) | torch.linalg.multi_dot([x,m.double()]) | torch.linalg.multi_dot([x,m,m])
torch.einsum('ij,jk',x) | torch.einsum('ij',x,x) | torch.einsum('ij,jk->ik',x,x) | torch.einsum('ijk',x)
torch.einsum('i',x) | torch.einsum('ij->ijk',x) | torch.einsum('ij->ii',x) | torch.einsum('i1->i',x)
torch.einsum('ii',x) | torch.einsum('.i',x) | torch.einsum('ij-',x) | torch.einsum('ij>',x) | torch.einsum(x,[0,99])
torch.einsum('ij') | torch.einsum('i.j',x) | torch.einsum('i......',b) | torch.einsum('ij->i$',x)
torch.einsum('ij,jk->ik',x,m.double()) | torch.einsum('BA,aB->Aa',x,y.t()[:2,:3])
torch.einsum('i...j,j...k->...ik',b,c.transpose(0,1)) | torch.einsum('ij,j',x,e)
"""

VALUES = """
torch.addr(x,v[:3],v) | torch.addr(s,v,i) | torch.addr(i,i,i) | torch.addbmm(s,b,c) | torch.baddbmm(s,b,c)
torch.vdot(v,v) | torch.inner(x,y) | torch.inner(x,s) | torch.outer(v,i) | torch.ger(v,v) | torch.kron(x,s)
torch.kron(i,x) | torch.kron(s,s) | torch.cross(i,i) | torch.cdist(x,y) | torch.cdist(b,x) | torch.cdist(x[:0],y)
torch.cdist(x,y[:0]) | torch.cdist(x[:, :0],y[:, :0]) | torch.cdist(x,y,p=float('inf')) | torch.cdist(x,y,0)
torch.cdist(x,y,p=2.5) | torch.tensordot(x,m,1) | torch.tensordot(x,x,([1],[1]))
torch.tensordot(x,x,([0,1],[0,1])) | torch.tensordot(x,x,0) | torch.tensordot(b,x,([1,2],[0,1]))
torch.tensordot(x,b,([0,1],[1,2])) | torch.tensordot(x[:1],x,([0],[0])) | torch.tensordot(x,v,1)
torch.tensordot(v,m,1) | torch.tensordot(x,x[:1],([0],[0])) | torch.tensordot(x,x,dims=torch.tensor(2))
torch.tensordot(x,x,torch.tensor([[0],[0]])) | torch.tensordot(v,v,1) | torch.tensordot(i,i,1)
torch.tensordot(x,x) | torch.tensordot(v,v,([0],[0])) | torch.chain_matmul(x) | torch.chain_matmul(x,m)
torch.linalg.multi_dot([x,m]) | torch.linalg.multi_dot([v,m]) | torch.linalg.multi_dot([v,v])
torch.linalg.multi_dot([x,m,x,m]) | torch.linalg.multi_dot([x,m,x]) | torch.linalg.multi_dot([v,m,x,v])
torch.einsum('...->...',x) | torch.einsum('...i->i...',b) | torch.einsum('i...,...->i',x,v) | torch.einsum(x,[0,1])
torch.einsum('i j -> j i',x) | torch.einsum('bij,bjk->bik',b,c) | torch.einsum('ij,ij',x,x)
torch.einsum(',ij',s,x) | torch.einsum('->',s) | torch.einsum('i,i',v,v[:1]) | torch.einsum('ij,jk->ik',[x,m])
torch.einsum('iij->ij',sq.expand(3,3,3)) | torch.einsum('ba',x) | torch.einsum('ij,ij->j',i[None].float(),sq)
torch.einsum('ij,jk->ik',i[None],i[:,None]) | torch.einsum('bn,anm,bm->ba',torch.ones(2,3),b,torch.ones(2,4))
torch.einsum('ij,k->',x,v)
"""

GRAPHS = """
torch.addmm(m.t()[:3,:].t()[:1,:1],x,m) | torch.addmm(s,x,m,beta=2,alpha=3) | torch.addmv(s,x,v)
torch.addbmm(s,b,c) | torch.baddbmm(s,b,c) | torch.inner(x,w) | torch.inner(b,x) | torch.inner(x,s)
torch.inner(s,s) | torch.kron(x,m) | torch.kron(v,m) | torch.cross(sq,sq.t()) | torch.linalg.cross(sq,sq[:1])
torch.cdist(x,w) | torch.cdist(x,y,p=1) | torch.cdist(x,y,compute_mode='donot_use_mm_for_euclid_dist')
torch.cdist(b,x) | torch.tensordot(x,m,1) | torch.tensordot(b,x,([1,2],[0,1])) | torch.tensordot(x,m,0)
torch.chain_matmul(x,m) | torch.chain_matmul(x,m,m.t()) | torch.linalg.multi_dot([x,m,m.t(),v])
torch.linalg.multi_dot([v,x.t(),x,m]) | torch.einsum('ij,jk->ik',x,m) | torch.einsum('ij,jk',x,m)
torch.einsum('ij->ji',x) | torch.einsum('ij->i',x) | torch.einsum('ii->i',sq) | torch.einsum('ii',sq)
torch.einsum('bij,bjk->bik',b,c) | torch.einsum('bij,jk->bik',b,m) | torch.einsum('bij,kj,bkl->il',b,x,b)
torch.einsum('...ij,...jk->...ik',b,m) | torch.einsum('ij,j->i',x,v) | torch.einsum('ij,kj->ik',x,w)
torch.einsum('i,ij,j->',x[:,0],x,v) | torch.einsum(x,[0,1],m,[1,2],[0,2]) | torch.einsum('ij->',x)
torch.einsum('ij->ij',x) | torch.einsum('i->',v) | torch.einsum('ij,k->ijk',x,v) | torch.einsum('bij,bij->b',b,b)
"""
