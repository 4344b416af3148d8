"""Ways to make a tensor: errors, values, dtypes and layout are torch's."""

from __future__ import annotations

ERRORS = """
torch.linspace(0,1,-1) | torch.logspace(0,1,-1) | torch.range(0,3,0) | torch.range(3,0) | torch.tril_indices(-1,2)
torch.tril_indices(2,2,dtype=torch.float32) | torch.vander(x) | torch.vander(v,-1) | torch.eye(-1)
torch.empty_strided((2,3),(1,)) | torch.empty_strided((-2,),(1,))
torch.frombuffer(bytearray(b'abc'),dtype=torch.int32) | torch.frombuffer(bytearray(b''),dtype=torch.uint8)
torch.full(2,1) | torch.full((2,-1),1) | torch.zeros(2.5) | torch.zeros('a') | torch.zeros_like(2)
torch.tensor([[1,2],[3]]) | torch.tensor({}) | torch.tensor([None]) | torch.tensor("a") | torch.tensor([x[0],x[1]])
torch.tensor(2**63) | torch.tensor(2**70) | torch.tensor([300],dtype=torch.uint8)
torch.tensor(float('nan'),dtype=torch.int64) | x.new_zeros(-1) | x.new_zeros() | torch.FloatTensor('a')
torch.LongTensor(x) | torch.FloatTensor(2.5) | torch.manual_seed('a') | torch.manual_seed(2**64)
"""

VALUES = """
torch.linspace(0,1,5) | torch.linspace(0,1,1) | torch.linspace(0,1,0) | torch.linspace(0,10,4,dtype=torch.int64)
torch.linspace(s,x[0,0],3) | torch.linspace(3,-3,7) | torch.linspace(0,-10,4,dtype=torch.int32)
torch.logspace(0,2,3) | torch.logspace(0,3,4,base=2) | torch.logspace(0,2,3,dtype=torch.int64)
torch.logspace(1,2,1) | torch.range(0,3) | torch.range(0,1,0.5) | torch.range(3,0,-1) | torch.arange(0,5,2)
torch.arange(5.) | torch.arange(0,1,0.1) | torch.arange(s) | torch.arange(5,dtype=torch.float64) | torch.arange(0)
torch.arange(end=3) | torch.arange(start=1,end=3) | torch.arange(1,3,step=0.5) | torch.arange(True)
torch.arange(3,0,-1) | torch.tril_indices(3,3) | torch.tril_indices(3,4,-1) | torch.tril_indices(3,4,1)
torch.triu_indices(3,4) | torch.triu_indices(2,2,1,dtype=torch.int32) | torch.tril_indices(0,2)
torch.triu_indices(3,2,offset=-1) | torch.vander(i) | torch.vander(v) | torch.vander(v,2) | torch.eye(3)
torch.eye(2,3) | torch.eye(0) | torch.eye(2,dtype=torch.int64) | torch.eye(n=2,m=1) | torch.scalar_tensor(2)
torch.scalar_tensor(2.5,dtype=torch.float64) | torch.empty_strided((2,3),(1,2)).stride() | torch.asarray([1,2])
torch.asarray(x) is x | torch.asarray(2.5) | torch.asarray([1.,2.],dtype=torch.int64)
torch.asarray(x,copy=True)[0] | torch.frombuffer(bytearray(b'abcd'),dtype=torch.uint8)
torch.frombuffer(bytearray(b'abcdefgh'),dtype=torch.int32,count=1,offset=4) | torch.full((2,),s) | torch.full((),5)
torch.full((2,),5,dtype=torch.bool) | torch.zeros(2,3,dtype=torch.int32) | torch.zeros((2,)) | torch.zeros([2,3])
torch.zeros(torch.tensor(2)) | torch.zeros(()) | torch.ones(size=(2,)) | torch.empty(2,0)
torch.zeros_like(x,dtype=torch.bool) | torch.full_like(x,3) | torch.full_like(i,2.7) | torch.ones_like(e)
torch.tensor([1,2.5]) | torch.tensor([True,2]) | torch.tensor([]) | torch.tensor(()) | torch.tensor([[]])
torch.tensor(1,dtype=torch.float64) | torch.tensor([1.5],dtype=torch.int64) | torch.tensor([s,s])
torch.tensor([1,2],dtype=torch.uint8) | torch.tensor([-1],dtype=torch.uint8) | torch.tensor(1e400)
torch.tensor(range(3)) | torch.as_tensor(2) | torch.as_tensor([1.,2.]) | torch.as_tensor(x) is x
torch.as_tensor(x,dtype=torch.float64).dtype | x.new_zeros(2) | x.new_zeros((2,3)) | i.new_ones(2)
i.new_full((2,),2.5) | i.new_full((2,),3) | x.new_full((2,),3) | x.new_tensor([1,2]) | i.new_tensor([1.5])
x.new_tensor([1,2],dtype=torch.int64) | x.new_empty(2).shape | x.new_empty_strided((2,2),(1,2)).stride()
x.new_zeros(2,dtype=torch.int32) | x.new(2,3).shape | x.new([1.,2.]) | x.new().shape | x.new_ones(())
torch.FloatTensor(2,3).shape | torch.FloatTensor([1,2]) | torch.FloatTensor() | torch.LongTensor([1,2])
torch.LongTensor([1.5]) | torch.LongTensor(2).shape | torch.DoubleTensor([[1],[2]]) | torch.ShortTensor([1])
torch.CharTensor([1]) | torch.BoolTensor([1,0]) | torch.HalfTensor([1.5]) | torch.FloatTensor(x) is x
torch.Tensor(2).shape | torch.Tensor([1]) | torch.Tensor() | torch.FloatTensor((1,2))
torch.Generator().manual_seed(3).initial_seed() | torch.manual_seed(5).initial_seed()
torch.manual_seed(-1).initial_seed() | torch.Generator().device | torch.Generator().get_state().dtype
"""

GRAPHS = ""  # what is made is a leaf
