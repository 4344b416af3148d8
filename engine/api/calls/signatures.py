"""torch's signatures, function by function: what `signature.Reader` reads.  Its notation is explained there."""

from __future__ import annotations

TORCH = """
abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bitwise_not ceil
    conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0 inverse isneginf isposinf
    lgamma log log10 log1p log2 logical_not msort neg negative rad2deg reciprocal rsqrt sgn sigmoid sign signbit sin
    sinc sinh sqrt square tan tanh trunc :: input:T * out:T?=
abs_ acos_ acosh_ adjoint arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ argwhere asin_ asinh_ atan_ atanh_ ceil_
    conj corrcoef cos_ cosh_ deg2rad_ det detach detach_ erf_ erfc_ exp2_ exp_ expm1_ fix_ fliplr flipud floor_ frac_
    i0_ imag is_complex is_conj is_floating_point is_inference is_neg is_nonzero is_signed isfinite isinf isnan isreal
    log10_ log1p_ log2_ log_ logdet matrix_exp neg_ negative_ positive rad2deg_ ravel real reciprocal_ relu relu_
    resolve_conj resolve_neg rsqrt_ selu selu_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ t tan_ tanh_ trace trunc_
    view_as_complex view_as_real zero_ numel :: input:T
adaptive_avg_pool1d :: input:T output_size:is1
add sub :: input:T other:T * alpha:n= out:T?= | ~input:T alpha:n other:T * out:T?=
addbmm :: input:T batch1:T batch2:T * beta:n= alpha:n= out:T?= | ~beta:n input:T alpha:n batch1:T batch2:T * out:T?= |
    ~beta:n input:T batch1:T batch2:T * out:T?=
addcdiv addcmul :: input:T tensor1:T tensor2:T * value:n= out:T?= | ~input:T value:n tensor1:T tensor2:T * out:T?=
addmm :: input:T mat1:T mat2:T * beta:n= alpha:n= out:T?= | input:T mat1:T mat2:T out_dtype:any * beta:n= alpha:n=
    out:T?= | ~beta:n input:T alpha:n mat1:T mat2:T * out:T?= | ~beta:n input:T mat1:T mat2:T * out:T?=
addmv :: input:T mat:T vec:T * beta:n= alpha:n= out:T?= | ~beta:n input:T alpha:n mat:T vec:T * out:T?= | ~beta:n
    input:T mat:T vec:T * out:T?=
addmv_ :: input:T mat:T vec:T * beta:n= alpha:n= | ~beta:n input:T alpha:n mat:T vec:T | ~beta:n input:T mat:T vec:T
addr :: input:T vec1:T vec2:T * beta:n= alpha:n= out:T?= | ~beta:n input:T alpha:n vec1:T vec2:T * out:T?= | ~beta:n
    input:T vec1:T vec2:T * out:T?=
all any :: input:T dim:i keepdim:b= * out:T?= | input:T dim:is?= keepdim:b= * out:T?= | input:T * out:T?=
allclose isclose :: input:T other:T rtol:f= atol:f= equal_nan:b=
alpha_dropout dropout feature_alpha_dropout :: input:T p:f train:b
amax amin :: input:T dim:is1?= keepdim:b= * out:T?=
aminmax :: input:T * dim:i?= keepdim:b= out:Ts2?=
arange :: end:n * out:T?= +new | start:n end:n * +new | start:n end:n step:n= * out:T?= +new
arctan2 atan2 fmax fmin gcd hypot igamma igammac inner kron lcm ldexp logaddexp logaddexp2 logical_and logical_or
    logical_xor matmul maximum minimum mul nextafter vdot :: input:T other:T * out:T?=
argmax argmin :: input:T dim:i?= keepdim:b= * out:T?=
argsort :: input:T dim:i= descending:b= | input:T * stable:b dim:i= descending:b= out:T?=
as_strided as_strided_ as_strided_copy :: input:T size:is stride:is storage_offset:i?=
as_strided_scatter :: input:T src:T size:is stride:is storage_offset:i?=
as_tensor :: data:any * dtype:dt?= device:dev?=
avg_pool1d :: input:T kernel_size:is1 stride:is1?= padding:is1= ceil_mode:b= count_include_pad:b=
baddbmm :: input:T batch1:T batch2:T * beta:n= alpha:n= out:T?= | input:T batch1:T batch2:T out_dtype:any * beta:n=
    alpha:n= out:T?= | ~beta:n input:T alpha:n batch1:T batch2:T * out:T?= | ~beta:n input:T batch1:T batch2:T *
    out:T?=
bernoulli :: input:T * generator:g?= out:T?= | input:T p:f * generator:g?=
bilinear :: input1:T input2:T weight:T bias:T?=
bincount :: input:T weights:T?= minlength:i=
binomial :: count:T prob:T generator:g?=
bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor :: input:T other:T * out:T?= | input:T
    other:n * out:T?= | input:n other:T
bmm mm :: input:T mat2:T * out:T?= | input:T mat2:T out_dtype:any * out:T?=
broadcast_to :: input:T size:is
bucketize :: input:T boundaries:T * out_int32:b= right:b= out:T?= | input:n boundaries:T * out_int32:b= right:b=
can_cast :: from_:dt to:dt
cat concat concatenate stack :: tensors:Ts dim:i= * out:T?=
celu celu_ :: input:T alpha:n=
channel_shuffle :: input:T groups:i
cholesky cholesky_inverse :: input:T upper:b= * out:T?=
cholesky_solve :: input:T input2:T upper:b= * out:T?=
chunk unsafe_chunk :: input:T chunks:i dim:i=
clamp clip :: input:T min:n?= max:n?= * out:T?= | input:T min:T?= max:T?= * out:T?=
clamp_ clip_ :: input:T min:n?= max:n?= | input:T min:T?= max:T?=
clamp_max :: input:T max:n * out:T?= | input:T max:T * out:T?=
clamp_max_ :: input:T max:n | input:T max:T
clamp_min :: input:T min:n * out:T?= | input:T min:T * out:T?=
clamp_min_ :: input:T min:n | input:T min:T
clone :: input:T * memory_format:any?=
column_stack dstack hstack row_stack vstack :: tensors:Ts * out:T?=
combinations :: input:T r:i= with_replacement:b=
complex :: real:T imag:T * out:T?=
constant_pad_nd :: input:T pad:is value:n=
conv1d :: input:T weight:T bias:T?= stride:is1= padding:is1= dilation:is1= groups:i= | input:T weight:T bias:T?=
    stride:is1= padding:s= dilation:is1= groups:i=
conv2d :: input:T weight:T bias:T?= stride:is2= padding:is2= dilation:is2= groups:i= | input:T weight:T bias:T?=
    stride:is2= padding:s= dilation:is2= groups:i=
conv3d :: input:T weight:T bias:T?= stride:is3= padding:is3= dilation:is3= groups:i= | input:T weight:T bias:T?=
    stride:is3= padding:s= dilation:is3= groups:i=
conv_transpose1d :: input:T weight:T bias:T?= stride:is1= padding:is1= output_padding:is1= groups:i= dilation:is1=
conv_transpose2d :: input:T weight:T bias:T?= stride:is2= padding:is2= output_padding:is2= groups:i= dilation:is2=
conv_transpose3d :: input:T weight:T bias:T?= stride:is3= padding:is3= output_padding:is3= groups:i= dilation:is3=
copysign :: input:T other:T * out:T?= | input:T other:n * out:T?=
cosine_similarity :: x1:T x2:T dim:i= eps:f=
count_nonzero :: input:T dim:is | input:T dim:i?=
cov :: input:T * correction:i= fweights:T?= aweights:T?=
cross :: input:T other:T dim:i?= * out:T?=
cummax cummin :: input:T dim:i * out:Ts2?=
cumprod cumsum :: input:T dim:i * dtype:dt?= out:T?=
cumulative_trapezoid trapezoid :: y:T x:T * dim:i= | y:T * dx:n= dim:i=
diag tril triu :: input:T diagonal:i= * out:T?=
diag_embed diagonal :: input:T offset:i= dim1:i= dim2:i=
diagflat :: input:T offset:i=
diagonal_scatter :: input:T src:T offset:i= dim1:i= dim2:i=
diff :: input:T n:i= dim:i= prepend:T?= append:T?= * out:T?=
dist :: input:T other:T p:n=
div :: input:T other:T * out:T?= | input:T other:T * rounding_mode:s? out:T?= | input:T other:n * rounding_mode:s?
divide :: input:T other:T * out:T?= | input:T other:n | input:T other:T * rounding_mode:s? out:T?= | input:T other:n *
    rounding_mode:s?
dot :: input:T tensor:T * out:T?=
dsplit hsplit vsplit :: input:T sections:i | input:T indices:is
empty :: size:is * memory_format:any?= out:T?= +new
empty_like ones_like zeros_like :: input:T * memory_format:any?= +new
empty_strided :: size:is stride:is * +new
eq fmod ge greater greater_equal gt le less less_equal lt ne not_equal :: input:T other:n * out:T?= | input:T other:T
    * out:T?=
equal gcd_ is_same_size lcm_ ldexp_ :: input:T other:T
eye :: n:i * out:T?= +new | n:i m:i * out:T?= +new
fill fill_ :: input:T value:n | input:T value:T
flatten :: input:T start_dim:i= end_dim:i=
flip permute tile :: input:T dims:is
float_power pow :: input:T exponent:T * out:T?= | input:n exponent:T * out:T?= | input:T exponent:n * out:T?=
floor_divide multiply true_divide :: input:T other:T * out:T?= | input:T other:n
frexp slogdet :: input:T * out:Ts2?=
full :: size:is fill_value:n * out:T?= +new
full_like :: input:T fill_value:n * memory_format:any?= +new
gather :: input:T dim:i index:T * sparse_grad:b= out:T?=
ger outer :: input:T vec2:T * out:T?=
gradient :: input:T * spacing:n?= dim:i?= edge_order:i= | input:T * spacing:n dim:is edge_order:i= | input:T * dim:is
    edge_order:i= | input:T * spacing:ns dim:i?= edge_order:i= | input:T * spacing:ns dim:is edge_order:i= | input:T *
    spacing:Ts dim:i?= edge_order:i= | input:T * spacing:Ts dim:is edge_order:i=
group_norm :: input:T num_groups:i weight:T?= bias:T?= eps:f= cudnn_enabled:b=
hardshrink :: input:T lambd:n= * out:T?=
heaviside :: input:T values:T * out:T?=
histc :: input:T bins:i= min:n= max:n= * out:T?=
index_add :: input:T dim:i index:T source:T * alpha:n= out:T?=
index_copy :: input:T dim:i index:T source:T * out:T?=
index_fill :: input:T dim:i index:T value:n | input:T dim:i index:T value:T
index_put index_put_ :: input:T indices:Ts values:T accumulate:b=
index_reduce :: input:T dim:i index:T source:T reduce:s * include_self:b= out:T?=
index_select :: input:T dim:i index:T * out:T?=
isin :: elements:T test_elements:T * assume_unique:b= invert:b= out:T?= | elements:T test_element:n * assume_unique:b=
    invert:b= out:T?= | element:n test_elements:T * assume_unique:b= invert:b= out:T?=
kthvalue :: input:T k:I dim:i= keepdim:b= * out:Ts2?=
layer_norm :: input:T normalized_shape:is weight:T?= bias:T?= eps:f= cudnn_enable:b=
lerp :: input:T end:T weight:n * out:T?= | input:T end:T weight:T * out:T?=
linspace :: start:n end:n steps:i * out:T?= +new | start:T end:T steps:i * out:T?= +new | start:T end:n steps:i *
    out:T?= +new | start:n end:T steps:i * out:T?= +new
log_softmax softmax :: input:T dim:i dtype:dt?= * out:T?=
logcumsumexp :: input:T dim:i * out:T?=
logit :: input:T eps:f?= * out:T?=
logit_ :: input:T eps:f?=
logspace :: start:n end:n steps:i base:f= * out:T?= +new | start:T end:T steps:i base:f= * out:T?= +new | start:T
    end:n steps:i base:f= * out:T?= +new | start:n end:T steps:i base:f= * out:T?= +new
logsumexp :: input:T dim:is1 keepdim:b= * out:T?=
lu_solve :: input:T LU_data:T LU_pivots:T * out:T?=
lu_unpack :: LU_data:T LU_pivots:T unpack_data:b= unpack_pivots:b= * out:Ts3?=
masked_fill :: input:T mask:T value:n | input:T mask:T value:T
masked_scatter :: input:T mask:T source:T
masked_select :: input:T mask:T * out:T?=
matrix_power :: input:T n:i * out:T?=
max min :: input:T dim:i keepdim:b= * out:Ts2?= | input:T * out:T?= | input:T other:T * out:T?=
max_pool1d :: input:T kernel_size:is1 stride:is1?= padding:is1= dilation:is1= ceil_mode:b=
max_pool2d :: input:T kernel_size:is2 stride:is2?= padding:is2= dilation:is2= ceil_mode:b=
max_pool3d :: input:T kernel_size:is3 stride:is3?= padding:is3= dilation:is3= ceil_mode:b=
mean :: input:T * dtype:dt?= out:T?= | input:T dim:is1? keepdim:b= * dtype:dt?= out:T?=
median nanmedian :: input:T | input:T dim:i keepdim:b= * out:Ts2?=
mode :: input:T dim:i= keepdim:b= * out:Ts2?=
moveaxis movedim :: input:T source:is destination:is | input:T source:i destination:i
multinomial :: input:T num_samples:i replacement:b= * generator:g?= out:T?=
mv :: input:T vec:T * out:T?=
mvlgamma :: input:T p:i * out:T?=
nan_to_num :: input:T nan:f?= posinf:f?= neginf:f?= * out:T?=
nan_to_num_ :: input:T nan:f?= posinf:f?= neginf:f?=
nanmean nansum :: input:T dim:is1?= keepdim:b= * dtype:dt?= out:T?=
nanquantile quantile :: input:T q:T dim:i?= keepdim:b= * interpolation:s= out:T?= | input:T q:f dim:i?= keepdim:b= *
    interpolation:s= out:T?=
narrow :: input:T dim:i start:I length:I | input:T dim:i start:T length:I
narrow_copy :: input:T dim:i start:I length:I * out:T?=
nonzero :: input:T * out:T?= as_tuple:b=
normal :: input:T mean:f= std:f= * generator:g?= | mean:T std:f= * generator:g?= out:T?= | mean:f std:T *
    generator:g?= out:T?= | mean:T std:T * generator:g?= out:T?= | mean:f std:f size:is * generator:g?= out:T?= +new
ones zeros :: size:is * out:T?= +new
orgqr :: input:T input2:T * out:T?=
pairwise_distance :: x1:T x2:T p:f= eps:f= keepdim:b=
pdist :: input:T p:f=
pinverse :: input:T rcond:f=
pixel_shuffle :: input:T upscale_factor:i
pixel_unshuffle :: input:T downscale_factor:i
poisson :: input:T generator:g?=
polar :: abs:T angle:T * out:T?=
polygamma :: n:i input:T * out:T?=
prelu :: input:T weight:T
prod :: input:T * dtype:dt?= | input:T dim:i keepdim:b= * dtype:dt?= out:T?=
promote_types :: type1:dt type2:dt
put :: input:T index:T source:T accumulate:b=
qr :: input:T some:b= * out:Ts2?=
rand randn :: size:is * out:T?= +new | size:is * generator:g? out:T?= +new
rand_like randn_like :: input:T * memory_format:any?= +new | input:T * generator:g? memory_format:any?= +new
randint :: high:i size:is * out:T?= +new | high:i size:is * generator:g? out:T?= +new | low:i high:i size:is * out:T?=
    +new | low:i high:i size:is * generator:g? out:T?= +new
randint_like :: input:T high:i * memory_format:any?= +new | input:T high:i * generator:g? memory_format:any?= +new |
    input:T high:T * memory_format:any?= +new | input:T high:T * generator:g? memory_format:any?= +new | input:T low:i
    high:i * memory_format:any?= +new | input:T low:i high:i * generator:g? memory_format:any?= +new
randperm :: n:i * out:T?= +new | n:i * generator:g? out:T?= +new
range :: start:n end:n step:n= * out:T?= +new
remainder :: input:T other:n * out:T?= | input:T other:T * out:T?= | input:n other:T
renorm :: input:T p:n dim:i maxnorm:n * out:T?=
repeat_interleave :: repeats:T * output_size:i?= | input:T repeats:T dim:i?= * output_size:i?= | input:T repeats:i
    dim:i?= * output_size:i?=
reshape :: input:T shape:is
resize_as_ :: input:T the_template:T * memory_format:any?=
result_type :: tensor:T other:T | tensor:T other:n | scalar:n tensor:T | scalar1:n scalar2:n
rms_norm :: input:T normalized_shape:is weight:T?= eps:f?=
roll :: input:T shifts:is1 dims:is1?=
rot90 :: input:T k:i= dims:is=
round :: input:T * out:T?= | input:T * decimals:i out:T?=
round_ :: input:T | input:T * decimals:i
rrelu rrelu_ :: input:T lower:n= upper:n= training:b= generator:g?=
rsub :: input:T other:T * alpha:n= | input:T other:n alpha:n=
scalar_tensor :: s:n * +new
scatter :: input:T dim:i index:T src:T * out:T?= | input:T dim:i index:T value:n * out:T?= | input:T dim:i index:T
    src:T * reduce:s out:T?= | input:T dim:i index:T value:n * reduce:s out:T?=
scatter_add :: input:T dim:i index:T src:T * out:T?=
scatter_reduce :: input:T dim:i index:T src:T reduce:s * include_self:b= out:T?=
searchsorted :: sorted_sequence:T input:T * out_int32:b= right:b= side:s?= sorter:T?= out:T?= | sorted_sequence:T
    input:n * out_int32:b= right:b= side:s?= sorter:T?= out:T?=
select :: input:T dim:i index:I
select_scatter :: input:T src:T dim:i index:I
slice_scatter :: input:T src:T dim:i= start:I?= end:I?= step:I=
sort :: input:T dim:i= descending:b= * out:Ts2?= | input:T * stable:b? dim:i= descending:b= out:Ts2?=
split_with_sizes unsafe_split_with_sizes :: input:T split_sizes:is dim:i=
squeeze :: input:T | input:T dim:i | input:T dim:is
std var :: input:T unbiased:b= | input:T dim:is1? unbiased:b= keepdim:b= * out:T?= | input:T dim:is1?= *
    correction:n?= keepdim:b= out:T?=
std_mean var_mean :: input:T unbiased:b= | input:T dim:is1? unbiased:b= keepdim:b= | input:T dim:is1?= *
    correction:n?= keepdim:b=
subtract :: input:T other:T * alpha:n= out:T?= | input:T other:n alpha:n=
sum :: input:T * dtype:dt?= | input:T dim:is1? keepdim:b= * dtype:dt?= out:T?=
svd :: input:T some:b= compute_uv:b= * out:Ts3?=
swapaxes :: input:T axis0:i axis1:i
swapdims transpose :: input:T dim0:i dim1:i
take :: input:T index:T * out:T?=
take_along_dim :: input:T indices:T dim:i?= * out:T?=
tensor :: data:any * dtype:dt?= device:dev?= pin_memory:b= requires_grad:b= names:any?=
tensor_split :: input:T sections:i dim:i= | input:T indices:is dim:i= | input:T tensor_indices_or_sections:T dim:i=
threshold :: input:T threshold:n value:n * out:T?=
threshold_ :: input:T threshold:n value:n
topk :: input:T k:I dim:i= largest:b= sorted:b= * out:Ts2?=
trapz :: y:T x:T * dim:i= | y:T * dx:f= dim:i=
triangular_solve :: input:T A:T upper:b= transpose:b= unitriangular:b= * out:Ts2?=
tril_indices triu_indices :: row:i col:i offset:i= * +new
unbind :: input:T dim:i=
unflatten :: input:T dim:i sizes:is
unsafe_split :: input:T split_size:i dim:i=
unsqueeze :: input:T dim:i
vander :: x:T N:i?= increasing:b=
view_copy :: input:T size:is | input:T dtype:dt
where :: condition:T input:T other:T * out:T?= | condition:T input:n other:T | condition:T input:T other:n |
    condition:T input:n other:n | condition:T
xlogy :: input:T other:T * out:T?= | input:n other:T * out:T?= | input:T other:n * out:T?=
xlogy_ :: input:T other:T | input:T other:n
"""
"""Functions of torch itself; methods are these without `input` and `out`."""

METHODS = """
addmm addmm_ :: mat1:T mat2:T * beta:n= alpha:n= | ~beta:n alpha:n mat1:T mat2:T | ~beta:n mat1:T mat2:T
baddbmm baddbmm_ :: batch1:T batch2:T * beta:n= alpha:n= | ~beta:n alpha:n batch1:T batch2:T | ~beta:n batch1:T
    batch2:T
bernoulli_ :: p:T * generator:g?= | p:f= * generator:g?=
bitwise_and bitwise_left_shift bitwise_left_shift_ bitwise_or bitwise_right_shift bitwise_right_shift_ bitwise_xor
    xlogy :: other:T | other:n
bitwise_and_ bitwise_or_ bitwise_xor_ remainder remainder_ :: other:n | other:T
bmm mm :: mat2:T
cauchy_ :: median:f= sigma:f= * generator:g?=
chalf cpu byte char short int long half float double bool :: * memory_format:any?=
coalesce dequantize dim get_device int_repr item numel retain_grad storage_offset nelement ndimension element_size
    tolist data_ptr :: ()
contiguous is_contiguous :: * memory_format:any=
copy_ :: other:T non_blocking:b=
cuda :: device:dev?= non_blocking:b= * memory_format:any?=
expand :: size:is * implicit:b=
expand_as reshape_as type_as view_as :: other:T
exponential_ :: lambd:f= * generator:g?=
fill_diagonal_ :: fill_value:n wrap:b=
float_power pow :: exponent:T | exponent:n
float_power_ pow_ :: exponent:n | exponent:T
geometric_ :: p:f * generator:g?=
is_pinned :: device:dev?=
is_set_to :: tensor:T
log_normal_ normal_ :: mean:f= std:f= * generator:g?=
new_empty new_ones new_zeros :: size:is * +new
new_empty_strided :: size:is stride:is * +new
new_full :: size:is fill_value:n * +new
new_tensor :: data:any * dtype:dt?= device:dev?= requires_grad:b=
nonzero :: () | * as_tuple:b
numpy :: * force:b=
random_ :: from:i to:i? * generator:g?= | to:i * generator:g?= | * generator:g?=
repeat :: repeats:is
repeat_interleave :: repeats:T dim:i?= * output_size:i?= | repeats:i dim:i?= * output_size:i?=
requires_grad_ :: requires_grad:b=
resize_ :: size:is * memory_format:any?=
set_ :: source:any | source:any storage_offset:i size:is stride:is?= | source:T storage_offset:i size:is stride:is?= |
    source:T | ()
size stride :: dim:i?=
sum_to_size :: size:is
to :: device:dev?= dtype:dt?= non_blocking:b= copy:b= * memory_format:any?= | dtype:dt non_blocking:b= copy:b= *
    memory_format:any?= | tensor:T non_blocking:b= copy:b= * memory_format:any?=
to_sparse :: sparse_dim:i | * layout:any?= blocksize:is2?= dense_dim:i?=
to_sparse_csr :: dense_dim:i?=
type :: dtype:any?= non_blocking:b= * memory_format:any?=
unfold :: dimension:i size:i step:i
uniform_ :: from:f= to:f= * generator:g?=
view :: size:is | dtype:dt
where :: condition:T other:T | condition:T other:n
"""
"""Methods that are no functions, or have other forms than the function."""

LINALG = """
cholesky :: input:T * upper:b= out:T?=
cholesky_ex :: input:T * upper:b= check_errors:b= out:Ts2?=
cond :: input:T p:n?= * out:T?= | input:T p:s * out:T?=
cross :: input:T other:T * dim:i= out:T?=
det inv :: A:T * out:T?=
diagonal :: A:T * offset:i= dim1:i= dim2:i=
eigh :: input:T UPLO:s= * out:Ts2?=
eigvalsh :: input:T UPLO:s= * out:T?=
householder_product :: input:T tau:T * out:T?=
inv_ex :: A:T * check_errors:b= out:Ts2?=
lstsq :: input:T b:T rcond:f?= * driver:s?= out:Ts4?=
lu :: A:T * pivot:b= out:Ts3?=
lu_factor :: A:T * pivot:b= out:Ts2?=
lu_factor_ex :: A:T * pivot:b= check_errors:b= out:Ts3?=
lu_solve :: LU:T pivots:T B:T * left:b= adjoint:b= out:T?=
matmul :: input:T other:T * out:T?=
matrix_exp :: input:T
matrix_norm :: input:T ord:n dim:is= keepdim:b= * dtype:dt?= out:T?= | input:T ord:s= dim:is= keepdim:b= * dtype:dt?=
    out:T?=
matrix_power :: input:T n:i * out:T?=
matrix_rank :: input:T * atol:T?= rtol:T?= hermitian:b= out:T?= | input:T * atol:f?= rtol:f?= hermitian:b= out:T?= |
    input:T tol:f hermitian:b= * out:T?= | input:T tol:T hermitian:b= * out:T?=
multi_dot :: tensors:Ts * out:T?=
norm :: input:T ord:n?= dim:is1?= keepdim:b= * dtype:dt?= out:T?= | input:T ord:s dim:is1?= keepdim:b= * dtype:dt?=
    out:T?=
pinv :: input:T * atol:T?= rtol:T?= hermitian:b= out:T?= | input:T * atol:f?= rtol:f?= hermitian:b= out:T?= | input:T
    rcond:f hermitian:b= * out:T?= | input:T rcond:T hermitian:b= * out:T?=
qr :: A:T mode:s= * out:Ts2?=
slogdet :: A:T * out:Ts2?=
solve :: A:T B:T * left:b= out:T?=
solve_ex :: A:T B:T * left:b= check_errors:b= out:Ts2?=
solve_triangular :: input:T B:T * upper:b left:b= unitriangular:b= out:T?=
svd :: A:T full_matrices:b= * driver:s?= out:Ts3?=
svdvals :: A:T * driver:s?= out:T?=
tensorinv :: input:T ind:i= * out:T?=
tensorsolve :: input:T other:T dims:is?= * out:T?=
vander :: x:T * N:i?=
vecdot :: x:T y:T * dim:i= out:T?=
vector_norm :: input:T ord:n= dim:is1?= keepdim:b= * dtype:dt?= out:T?=
"""
"""Functions of torch.linalg: in messages they are `linalg_…`."""

SPECIAL = """
bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e
    log1p log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri psi sinc ::
    input:T * out:T?=
gammainc gammaincc :: input:T other:T * out:T?=
log_softmax :: input:T dim:i * dtype:dt?=
logit :: input:T eps:f?= * out:T?=
logsumexp :: input:T dim:is1 keepdim:b= * out:T?=
multigammaln :: input:T p:i * out:T?=
polygamma :: n:i input:T * out:T?=
round :: input:T * decimals:i= out:T?=
scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0 :: x:T * out:T?=
softmax :: input:T dim:i dtype:dt?=
xlog1py xlogy zeta :: input:T other:T * out:T?= | input:n other:T * out:T?= | input:T other:n * out:T?=
"""
"""Functions of torch.special: in messages they are `special_…`."""

FUNCTIONAL = """
adaptive_avg_pool1d :: input:T output_size:is1
avg_pool1d :: input:T kernel_size:is1 stride:is1?= padding:is1= ceil_mode:b= count_include_pad:b=
avg_pool2d :: input:T kernel_size:is2 stride:is2?= padding:is2= ceil_mode:b= count_include_pad:b= divisor_override:i?=
    * out:T?=
avg_pool3d :: input:T kernel_size:is3 stride:is3?= padding:is3= ceil_mode:b= count_include_pad:b= divisor_override:i?=
    * out:T?=
bilinear :: input1:T input2:T weight:T bias:T?=
celu_ :: input:T alpha:n=
channel_shuffle :: input:T groups:i
conv1d :: input:T weight:T bias:T?= stride:is1= padding:is1= dilation:is1= groups:i= | input:T weight:T bias:T?=
    stride:is1= padding:s= dilation:is1= groups:i=
conv2d :: input:T weight:T bias:T?= stride:is2= padding:is2= dilation:is2= groups:i= | input:T weight:T bias:T?=
    stride:is2= padding:s= dilation:is2= groups:i=
conv3d :: input:T weight:T bias:T?= stride:is3= padding:is3= dilation:is3= groups:i= | input:T weight:T bias:T?=
    stride:is3= padding:s= dilation:is3= groups:i=
conv_transpose1d :: input:T weight:T bias:T?= stride:is1= padding:is1= output_padding:is1= groups:i= dilation:is1=
conv_transpose2d :: input:T weight:T bias:T?= stride:is2= padding:is2= output_padding:is2= groups:i= dilation:is2=
conv_transpose3d :: input:T weight:T bias:T?= stride:is3= padding:is3= output_padding:is3= groups:i= dilation:is3=
cosine_similarity :: x1:T x2:T dim:i= eps:f=
elu_ :: input:T alpha:n= scale:n= input_scale:n=
gelu :: input:T * approximate:s= out:T?=
hardshrink softshrink :: input:T lambd:n= * out:T?=
hardtanh_ :: input:T min_val:n= max_val:n=
leaky_relu_ :: input:T negative_slope:n=
linear :: input:T weight:T bias:T?= * out:T?=
logsigmoid :: input:T * out:T?=
one_hot :: input:T num_classes:i=
pairwise_distance :: x1:T x2:T p:f= eps:f= keepdim:b=
pdist :: input:T p:f=
pixel_shuffle :: input:T upscale_factor:i
pixel_unshuffle :: input:T downscale_factor:i
prelu :: input:T weight:T
relu_ selu_ :: input:T
rrelu_ :: input:T lower:n= upper:n= training:b= generator:g?=
scaled_dot_product_attention :: query:T key:T value:T attn_mask:T?= dropout_p:f= is_causal:b= * scale:f?=
    enable_gqa:b=
softplus :: input:T beta:n= threshold:n= * out:T?=
threshold_ :: input:T threshold:n value:n
"""
"""Functions of torch.nn.functional that torch has in C++."""

HANDED = """
relu relu6 selu silu mish hardsigmoid hardswish :: input:T
celu elu :: input:T alpha:n
hardtanh :: input:T min_val:n max_val:n
leaky_relu :: input:T negative_slope:n
threshold :: input:T threshold:n value:n
rrelu :: input:T lower:n upper:n training:b
glu :: input:T dim:i
dropout alpha_dropout feature_alpha_dropout :: input:T p:f training>train:b
dropout1d dropout2d dropout3d :: feature_dropout input:T p:f training>train:b
embedding :: weight:T input>indices:T padding_idx:i? scale_grad_by_freq:b sparse:b
layer_norm :: input:T normalized_shape:is weight:T? bias:T? eps:f
rms_norm :: input:T normalized_shape:is weight:T? eps:f?
group_norm :: input:T num_groups:i weight:T? bias:T? eps:f
batch_norm :: input:T weight:T? bias:T? running_mean:T? running_var:T? training:b momentum:f eps:f
instance_norm :: input:T weight:T? bias:T? running_mean:T? running_var:T? use_input_stats:b momentum:f eps:f
hinge_embedding_loss :: input:T target:T margin:f
cosine_embedding_loss :: input1:T input2:T target:T margin:f
triplet_margin_loss :: anchor:T positive:T negative:T margin:f p:f eps:f swap:b
multilabel_margin_loss soft_margin_loss kl_div :: input:T target:T
poisson_nll_loss :: input:T target:T log_input:b full:b eps:f
nll_loss :: nll_loss_nd input:T target:T weight:T? reduction:any ignore_index:i
cross_entropy :: cross_entropy_loss input:T target:T weight:T? reduction:any ignore_index:i label_smoothing:f
max_pool1d :: input:T kernel_size:is1 stride:is1? padding:is1 dilation:is1 ceil_mode:b
max_pool2d :: input:T kernel_size:is2 stride:is2? padding:is2 dilation:is2 ceil_mode:b
max_pool3d :: input:T kernel_size:is3 stride:is3? padding:is3 dilation:is3 ceil_mode:b
max_pool1d_with_indices :: input:T kernel_size:is1 stride:is1? padding:is1 dilation:is1 ceil_mode:b
max_pool2d_with_indices :: input:T kernel_size:is2 stride:is2? padding:is2 dilation:is2 ceil_mode:b
max_pool3d_with_indices :: input:T kernel_size:is3 stride:is3? padding:is3 dilation:is3 ceil_mode:b
pad :: input:T pad:is mode:s value:f?
grid_sample :: grid_sampler input:T grid:T
softmax log_softmax :: dim:i? * dtype:dt?
softmin :: softmax dim:i? * dtype:dt?
"""
"""Functions of torch.nn.functional written in Python, and what they hand on to C++ in its order: perhaps to one of
another name, perhaps under another name (`theirs>its`)."""
