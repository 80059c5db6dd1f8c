"""How PyTorch traces programs for us, and what is said of those that it cannot trace."""

import itertools
import linecache
import logging
import math
import warnings
from contextlib import ExitStack
from functools import partial
from traceback import walk_tb
from typing import Any
from unittest.mock import patch

import torch
from torch._dynamo import eval_frame
from torch._higher_order_ops import torchbind
from torch._higher_order_ops.effects import _get_effect, _register_effectful_op
from torch._higher_order_ops.flex_attention import math_attention
from torch._higher_order_ops.utils import _in_hop_compile
from torch._subclasses import fake_tensor
from torch.fx.experimental import proxy_tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, flex_attention, sdpa_kernel
from torch.nn.modules import transformer
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.of_torch import checks, detection, numbers_of_tensors, packed, quantized, selected, sparse
from ipu_mlir.frontends.of_torch.batch_norms import cumulative_norm, norm_over_replicas
from ipu_mlir.frontends.of_torch.known_values import trace_known_values
from ipu_mlir.frontends.of_torch.numbers_of_tensors import as_number, number_if_of_numbers, trace_conditions

_CHECK = "aten::_linalg_check_errors"
_OF_MEMORY = (".numpy() is not supported", "Cannot access data pointer", ".map_ is not supported", "UntypedStorage")
"""What PyTorch says where a program takes the memory of a tensor: as an array, in a file, to another library."""
_MOST_KNOWN = 4096
_LOGS = ("torch.fx.experimental.symbolic_shapes", "torch._subclasses.fake_tensor")
"""What they write of a failure is in the error, too."""


def trace_plainly(settings: ExitStack) -> None:
    """Attention and recurrent layers as the ops that they are made of, not as kernels of one machine; distributions
    and losses without checks of their arguments, which would branch on values."""
    settings.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore")  # PyTorch warns of what it does itself while these are set
    settings.enter_context(sdpa_kernel(SDPBackend.MATH))
    settings.enter_context(torch.backends.mkldnn.flags(enabled=False))
    settings.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
    torch.backends.mha.set_fastpath_enabled(False)
    settings.enter_context(PlainFunctions())
    checks.trace_checks(settings)
    trace_known_values(settings)
    trace_conditions(settings)
    detection.trace_detection(settings)
    for module in (proxy_tensor, fake_tensor):  # values of tensors written out in a program are known, of more than one
        settings.enter_context(patch.object(module, "CONSTANT_NUMEL_LIMIT", _MOST_KNOWN))
    settings.enter_context(patch.object(flex_attention, "flex_attention_hop", math_attention))
    settings.enter_context(patch.object(flex_attention, "_validate_device", _on_any_device))
    settings.enter_context(
        patch.object(eval_frame, "_callback_from_stance", _for_bodies(eval_frame._callback_from_stance))
    )
    settings.enter_context(patch.object(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True))
    settings.enter_context(
        patch.object(fake_tensor.FakeTensor, "_find_common_device", _common_device(fake_tensor.FakeTensor))
    )
    settings.enter_context(patch.object(transformer, "_detect_is_causal_mask", _is_said_to_be_causal))
    settings.callback(partial(_register_effectful_op, _CHECK, _get_effect(_CHECK)))
    _register_effectful_op(_CHECK, None)  # PyTorch would keep its order
    settings.enter_context(patch.object(torch.nn.modules.batchnorm._BatchNorm, "forward", cumulative_norm))
    settings.enter_context(patch.object(torch.nn.SyncBatchNorm, "forward", norm_over_replicas))
    for place, name in ((torch.ScriptMethod, "__call__"), (torchbind, "_orig_scriptmethod_call")):
        settings.enter_context(patch.object(place, name, _run_script))
    for name in ("nested_tensor", "as_nested_tensor", "nested_tensor_from_jagged", "narrow"):
        settings.enter_context(patch.object(torch.nested, name, partial(_refuse_nested, name)))
    distribution = torch.distributions.Distribution
    settings.callback(distribution.set_default_validate_args, distribution._validate_args)
    distribution.set_default_validate_args(False)
    for name in _LOGS:
        log = logging.getLogger(name)
        settings.callback(setattr, log, "disabled", log.disabled)
        log.disabled = True


def know_numbers(settings: ExitStack, arguments: Any) -> None:
    """Let a program ask for the values of buffers and other constants with one number, such as a stride."""
    given = {id(each) for each in pytree.tree_leaves(arguments)}
    theirs = fake_tensor.FakeTensorConverter.from_real_tensor

    def converted(converter: Any, mode: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        found: Any = theirs(converter, mode, x, *args, **kwargs)
        is_whole = type(x) is torch.Tensor and not _in_hop_compile()  # bodies of loops take what changes
        if is_whole and x.numel() == 1 and not x.requires_grad and id(x) not in given and found.constant is None:
            found.constant = x.detach().clone()
            converter.add_constant_storage_mapping(found)
        return found

    settings.enter_context(patch.object(fake_tensor.FakeTensorConverter, "from_real_tensor", converted))


def _refuse_nested(name: str, *_: Any, **__: Any) -> None:
    raise CompileError(f"torch.nested.{name} makes a tensor whose rows have no size in common; {PADDED}")


PADDED = "give a padded tensor and the lengths, torch.nn.utils.rnn.pad_sequence"
"""What has the place of nested tensors."""


def _run_script(method: Any, *args: Any, **kwargs: Any) -> Any:
    """What a method of TorchScript gives, whose ops are traced as it runs them.

    While PyTorch exports, it would run the Python that the method was made of.
    """
    with patch.multiple(torch.compiler, _is_compiling_flag=False, _is_exporting_flag=False):
        return _CALL_SCRIPT(method, *args, **kwargs)


_CALL_SCRIPT: Any = torch.ScriptMethod.__call__


def _on_any_device(query: Any, key: Any, value: Any) -> None:
    """Gradients of attention in ops of PyTorch are had anywhere."""


def _for_bodies(chosen: Any) -> Any:
    """Let ``torch.compile`` compile the bodies of loops and branches alone; what a program has compiled is traced."""
    return lambda callback: chosen(callback) if _in_hop_compile() else None


def _common_device(kind: Any) -> Any:
    """Let zero tangents, which PyTorch has on no device in transforms of transforms, be where others are."""
    theirs = kind._find_common_device

    def common(*args: Any) -> Any:
        try:
            return theirs(*args)
        except fake_tensor.FakeTensorDeviceMismatchError:
            return torch.device("cpu"), False

    return common


def _is_said_to_be_causal(mask: Any, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Only a hint: a mask counts in any case."""
    return is_causal is True


def _gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    var = torch.full_like(input, var) if isinstance(var, float) else var
    var = (var.unsqueeze(-1) if var.shape == input.shape[:-1] else var).expand_as(input)
    var = var + (var.detach().clamp(min=eps) - var.detach())  # whose gradient is that of what is not cut
    each = 0.5 * (torch.log(var) + (input - target) ** 2 / var) + (0.5 * math.log(2 * math.pi) if full else 0.0)
    return {"mean": torch.mean, "sum": torch.sum, "none": torch.clone}[reduction](each)


def _where(condition: Any, *choices: Any, **options: Any) -> Any:
    if choices or options:
        return torch.where(condition, *choices, **options)
    return selected.nonzero(condition, as_tuple=True)


def _inverse_stft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Any:  # fmt: skip
    """Of windows that overlap everywhere, which PyTorch checks."""
    size = n_fft if win_length is None else win_length
    hop = n_fft // 4 if hop_length is None else hop_length
    window = torch.ones(size) if window is None else window
    before = (n_fft - size) // 2
    window = functional.pad(window, [before, n_fft - size - before])
    is_half = onesided if onesided is not None else input.shape[-2] != n_fft
    norm = "ortho" if normalized else "backward"
    frames = input.transpose(-1, -2)
    if return_complex:
        parts = torch.fft.ifft(frames, n_fft, norm=norm)
    else:
        parts = torch.fft.irfft(frames if is_half else frames[..., : n_fft // 2 + 1], n_fft, norm=norm)
    count = frames.shape[-2]
    places = (torch.arange(count)[:, None] * hop + torch.arange(n_fft)).reshape(-1)
    total = n_fft + hop * (count - 1)
    weights = torch.zeros(total, dtype=window.dtype).index_add(0, places, (window**2).repeat(count))
    flat = (parts * window).flatten(-2)
    found = flat.new_zeros(*flat.shape[:-1], total).index_add(-1, places, flat)
    start = n_fft // 2 if center else 0
    end = total - start if length is None else min(start + length, total)
    found = found[..., start:end] / weights[start:end]
    return found if length is None else functional.pad(found, [0, length - (end - start)])


def _histogram(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    if not isinstance(bins, int) or range is None or weight is not None:
        return torch.histogram(input, bins, range=range, weight=weight, density=density)
    edges = torch.linspace(range[0], range[1], bins + 1, dtype=input.dtype)
    counts = torch.histc(input, bins, *range)
    return (counts / counts.sum() / edges.diff() if density else counts), edges


def _of_tensors(function: Any, *args: Any, **options: Any) -> Any:
    """``function`` of lists as tensors, whose numbers PyTorch loses in a graph, and of selected rows in a row."""
    known = [torch.tensor(each) if isinstance(each, list | tuple) else each for each in (*args, *options.values())]
    known = [each.packed().rows if isinstance(each, selected.Selected) else each for each in known]
    return function(*known[: len(args)], **dict(zip(options, known[len(args) :], strict=True)))


def _one_hot(tensor: Any, num_classes: int = -1) -> Any:
    if num_classes < 0:
        return functional.one_hot(tensor)
    return (tensor.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


def _covariance(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    x = torch.atleast_2d(input)
    if not x.is_floating_point() and not x.is_complex():
        x = x.to(torch.get_default_dtype())
    counts = torch.ones(x.shape[1], dtype=x.real.dtype if x.is_complex() else x.dtype) if fweights is None else fweights
    weights = counts if aweights is None else counts * aweights
    total = weights.sum()
    apart = x - (x * weights).sum(1, keepdim=True) / total
    lost = correction if aweights is None else correction * (weights * aweights).sum() / total
    return ((apart * weights) @ apart.mH / (total - lost).clamp(min=0)).squeeze()


def _correlation(input: Any) -> Any:
    found = _covariance(input)
    if not found.dim():
        return found / found
    deviation = found.diagonal().real.sqrt()
    found = found / deviation[:, None] / deviation
    return found if found.is_complex() else found.clamp(-1, 1)


def _combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    every = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return input[torch.tensor([*every(range(len(input)), r)], dtype=torch.int64).reshape(-1, r)]


def _are_close(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    return as_number(torch.isclose(input, other, rtol, atol, equal_nan).all())


def _are_equal(input: Any, other: Any) -> Any:
    return as_number((input == other).all()) if input.shape == other.shape else False


def _is_place(entry: Any) -> bool:
    """True for an integer in an index that is a tensor, whose value PyTorch itself asks for."""
    return isinstance(entry, torch.Tensor) and not entry.dim() and entry.dtype in _INTEGERS


_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)


def _read(x: Any, index: Any) -> Any:
    """``x[index]``, whose places may be tensors: ``x[:, t]``."""
    if isinstance(index, int) and not index and (size := getattr(x, "batch_of_padded", None)) is not None:
        return size
    entries = index if isinstance(index, tuple) else (index,)
    if entries and (found := selected.read(x, entries)) is not NotImplemented:
        return found
    if not any(map(_is_place, entries)):
        return torch.Tensor.__getitem__(x, index)
    taken = [_dimensions_of(each) for each in entries]
    dim = 0
    for entry, count in zip(entries, taken, strict=True):
        if _is_place(entry):
            x = x.index_select(dim, _from_the_front(entry, x.shape[dim]))
        dim += x.dim() - sum(taken) if entry is ... else count
    return torch.Tensor.__getitem__(x, tuple(0 if _is_place(each) else each for each in entries))


def _dimensions_of(entry: Any) -> int:
    """How many dimensions of a tensor an entry of its index is for; 0 for an ellipsis."""
    if entry is None or entry is ... or isinstance(entry, bool):
        return 0
    return entry.dim() if isinstance(entry, torch.Tensor) and entry.dtype == torch.bool else 1


def _from_the_front(place: Any, size: int) -> Any:
    place = place.reshape(1)
    return torch.where(place < 0, place + size, place)


def _write(x: Any, index: Any, value: Any) -> None:
    """``x[index] = value``, whose places may be tensors beside numbers and slices."""
    entries = index if isinstance(index, tuple) else (index,)
    if entries and selected.write(x, entries, value) is not NotImplemented:
        return
    is_basic = all(_is_place(each) or each is None or each is ... or isinstance(each, int | slice) for each in entries)
    if not is_basic or not any(map(_is_place, entries)):
        torch.Tensor.__setitem__(x, index, value)
        return
    part = torch.Tensor.__getitem__(x, tuple(slice(None) if _is_place(each) else each for each in entries))
    rest = sum(_dimensions_of(each) for each in entries)
    dims, dim = [], 0
    for entry in entries:
        if _is_place(entry):
            dims.append(dim)
        dim += x.dim() - rest if entry is ... else entry is None or _is_place(entry) or isinstance(entry, slice)
    places = [_from_the_front(each, part.shape[at]) for each, at in zip(filter(_is_place, entries), dims, strict=True)]
    part = part.movedim(dims, tuple(range(len(dims))))
    shape = part.shape[len(dims) :]
    value = torch.as_tensor(value, dtype=x.dtype)
    value = value.reshape(value.shape[max(value.dim() - len(shape), 0) :])  # without leading ones, which may be more
    part.index_put_(places, value.expand(shape).unsqueeze(0))


def _set_data(x: Any, value: Any) -> None:
    """``x.data = value``, which PyTorch does not put into a graph."""
    with torch.no_grad():
        if x.shape == value.shape and x.dtype == value.dtype:
            x.detach().copy_(value)
        else:
            x.set_(value)


_PLAIN: dict[Any, Any] = {
    torch.Tensor.__getitem__: _read,
    torch.Tensor.data.__set__: _set_data,
    torch.Tensor.__setitem__: _write,
    **checks.PLAIN,
    **numbers_of_tensors.PLAIN,
    **packed.PLAIN,
    **quantized.PLAIN,
    **sparse.PLAIN,
    **dict.fromkeys((torch.istft, torch.Tensor.istft), _inverse_stft),
    **dict.fromkeys((torch.histogram, torch.Tensor.histogram), _histogram),
    torch.where: _where,
    **dict.fromkeys((torch.bincount, torch.Tensor.bincount), selected.bincount),
    **dict.fromkeys((torch.unique, torch.Tensor.unique), selected.unique),
    **dict.fromkeys((torch.unique_consecutive, torch.Tensor.unique_consecutive), selected.unique_consecutive),
    **dict.fromkeys((torch.nonzero, torch.Tensor.nonzero, torch.argwhere, torch.Tensor.argwhere), selected.nonzero),
    **dict.fromkeys((torch.masked_select, torch.Tensor.masked_select), selected.masked_select),
    **dict.fromkeys((torch.cov, torch.Tensor.cov), _covariance),
    **dict.fromkeys((torch.corrcoef, torch.Tensor.corrcoef), _correlation),
    torch.combinations: _combinations,
    **dict.fromkeys((torch.allclose, torch.Tensor.allclose), _are_close),
    **dict.fromkeys((torch.equal, torch.Tensor.equal), _are_equal),
    functional.one_hot: _one_hot,
    functional.gaussian_nll_loss: _gaussian_nll_loss,
    **{each: partial(_of_tensors, each) for each in (functional.ctc_loss, torch.ctc_loss)},
}


class PlainFunctions(TorchFunctionMode):
    """In the block, functions that look at values before they compute only compute, and places are as tensors are."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in _PLAIN:
            quantized.refuse(func, args)
        result = _PLAIN.get(func, func)(*args, **(kwargs or {}))
        if args and func not in quantized.PLAIN and isinstance(args[0], torch.Tensor) and hasattr(args[0], "ipu_grid"):
            return quantized.keep_grid(func, args[0], result)
        return number_if_of_numbers(func, args, result)


def why(error: Exception) -> str:
    """What to say of a program that PyTorch cannot trace because of ``error``: where it asks for values, if it does."""
    asks = checks.asks_for_values(error)
    hands = any(each in str(error) for each in _OF_MEMORY)
    if not (asks or hands) and str(error):
        return str(error)
    lines = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    file, line = next((each for each in reversed(lines) if not each[0].startswith(checks.NOT_THE_USERS)), lines[-1])
    if not (asks or hands):
        return f"{type(error).__name__} at {file}:{line}, in {linecache.getline(file, line).strip()!r}"
    what = "hands tensors to what is not PyTorch" if hands else "asks for values of tensors"
    way = (
        "write it in ops of PyTorch"
        if hands
        else "choose between values by torch.where, between branches by torch.cond"
    )
    return (
        f"it {what} at {file}:{line}, in {linecache.getline(file, line).strip()!r}; {way}, or use torch.compile, which "
        "leaves such lines to Python"
    )
