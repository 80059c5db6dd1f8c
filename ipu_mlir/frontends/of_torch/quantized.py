"""Modules that PyTorch has quantized, statically or dynamically, as floats between their scales.

A tensor of 8 bits is one of floats that are multiples of its scale, and knows it by its attribute ``ipu_grid``: scale,
zero point and type. Packed weights are no tensors; they are constants of the program.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import _disable_current_modes

from ipu_mlir.dialects.support.errors import CompileError

_OPS = torch.ops.quantized
_ROUNDED = frozenset(("avg_pool2d", "avg_pool3d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "mean", "interpolate"))
"""Functions of tensors of 8 bits whose results, of the same scale, are rounded."""


_GRID = ("scale", "zero_point")


def _on_grid(x: Tensor, scale: Any, zero: Any, kind: torch.dtype = torch.quint8) -> Tensor:
    """``x`` rounded to what ``kind`` holds with this scale and zero point."""
    info = torch.iinfo(kind)
    found = (((x / scale).round() + zero).clamp(info.min, info.max) - zero) * scale
    return _with_grid(found, (scale, zero, kind))


def _with_grid(x: Any, grid: Any) -> Any:
    x.ipu_grid = grid
    return x


def _dequantize(x: Any) -> Any:
    return x.dequantize() if isinstance(x, Tensor) and x.is_quantized else x.clone()


def keep_grid(func: Any, x: Any, result: Any) -> Any:
    """``result`` of a function of PyTorch, whose first argument ``x`` is of 8 bits: of the same scale."""
    if not isinstance(result, Tensor) or not result.is_floating_point() or result is x:
        return result
    if getattr(func, "__name__", "") in _ROUNDED:
        return _on_grid(result, *x.ipu_grid)
    return _with_grid(result, x.ipu_grid)


def _to_grid(function: Callable[..., Any], *given: Any, **options: Any) -> Tensor:
    """What a function of floats gives, on the grid that the last two arguments name."""
    named = {each.removeprefix("output_"): options.pop(each) for each in [*options] if each.endswith(_GRID)}
    *args, scale, zero = (*given, named["scale"], named["zero_point"]) if named else given
    return _on_grid(function(*args, **options), scale, zero)


def _then(after: Callable[[Any], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **options: after(function(*args, **options))


def _of_tensors(unpack: Any, packed: Any) -> tuple[Tensor, Tensor | None]:
    """Weights as floats, and biases."""
    with _disable_current_modes():  # unpacking is no op of a graph
        weight, bias = unpack(packed)
        return weight.dequantize() if weight.is_quantized else weight.float(), bias


def _linear(x: Tensor, packed: Any) -> Tensor:
    return functional.linear(x, *_of_tensors(_OPS.linear_unpack, packed))


def _dynamic_linear(x: Tensor, packed: Any, reduce_range: bool = False) -> Tensor:
    return functional.linear(_in_its_range(x, reduce_range), *_of_tensors(_OPS.linear_unpack, packed))


def _embedding(packed: Any, indices: Tensor, pruned_weights: bool = False) -> Tensor:
    return functional.embedding(indices, _of_tensors(lambda each: (_OPS.embedding_bag_unpack(each), None), packed)[0])


def refuse(func: Any, args: Any) -> None:
    """Refuse an op of tensors of 8 bits that has no rule.

    Raises:
        CompileError: ``func`` is one.
    """
    if getattr(func, "_qualified_op_name", "").startswith("quantized::") and isinstance(next(iter(args), 0), Tensor):
        raise CompileError(f"{func} of tensors of 8 bits has no rule; compute it between DeQuantStub and QuantStub")


def _half_linear(x: Tensor, packed: Any) -> Tensor:
    return functional.linear(x, *_of_tensors(_OPS.linear_unpack_fp16, packed))


def _in_its_range(x: Tensor, reduce_range: bool) -> Tensor:
    """``x`` rounded to 7 bits, or to 8, of the range of all of its elements, as PyTorch chooses it."""
    most = 127 if reduce_range else 255
    low, high = x.amin().clamp(max=0), x.amax().clamp(min=0)
    scale = (high - low) / most
    scale = torch.where(scale > 0, scale, 0.1)
    zero = torch.where(-low < most * scale + high, -low / scale, most - high / scale).round().clamp(0, most)
    return (((x / scale).round() + zero).clamp(0, most) - zero) * scale


def _convolve(rank: int, is_transposed: bool, x: Tensor, packed: Any, *_: Any) -> Tensor:
    name = f"conv{'_transpose' * is_transposed}{rank}d"
    weight, bias = _of_tensors(getattr(_OPS, f"{name}_unpack"), packed)
    with _disable_current_modes():
        stride, padding, dilation = (list(each()[-rank:]) for each in (packed.stride, packed.padding, packed.dilation))
        more = list(packed.output_padding()[-rank:]) if is_transposed else None
        groups = packed.groups()
    convolve = getattr(functional, name)
    if more is not None:
        return convolve(x, weight, bias, stride, padding, more, groups, dilation)
    return convolve(x, weight, bias, stride, padding, dilation, groups)


_Linear = Callable[[Tensor], Tensor]
"""A linear layer whose weights and biases are known."""


def _cell(kind: str, gates: Tensor, state: Any, hidden: _Linear) -> Any:
    """The state after a step, whose input gates are given; of an LSTM, the hidden one and that of the cell."""
    if kind == "lstm":
        h, c = state
        first, forget, cell, out = (gates + hidden(h)).chunk(4, -1)
        c = forget.sigmoid() * c + first.sigmoid() * cell.tanh()
        return out.sigmoid() * c.tanh(), c
    if kind == "gru":
        (first, second, last), (reset, update, new) = gates.chunk(3, -1), hidden(state).chunk(3, -1)
        fresh = (last + new * (first + reset).sigmoid()).tanh()
        return (state - fresh) * (second + update).sigmoid() + fresh
    return getattr(torch, kind)(gates + hidden(state))


def _one_step(kind: str, x: Tensor, state: Any, packed: Any, hidden: Any, *_: Any) -> Any:
    gates, into = _dynamic_linear(x, packed, True), partial(_dynamic_linear, packed=hidden, reduce_range=True)
    return _cell(kind, gates, state, into)


def _linears(cell: Any) -> tuple[_Linear, _Linear]:
    """The layers of the input and of the hidden state of a recurrent layer, from its packed parameters."""
    with _disable_current_modes():
        (kind, _, _, numbers, packed), _ = cell.__getstate__()
    if kind == "quantized_fp16":
        return partial(_half_linear, packed=packed[0]), partial(_half_linear, packed=packed[1])
    reduce_range = not numbers or bool(numbers[0])
    first, second = (partial(_dynamic_linear, packed=each, reduce_range=reduce_range) for each in packed)
    return first, second


def _layers(kind: str, x: Any, states: Any, cells: Any, *args: Any, **_: Any) -> Any:
    """A recurrent layer with weights of 8 bits, or of 16: its input is rounded at once, its states step by step."""
    if isinstance(cells, Tensor):
        raise CompileError("a quantized recurrent layer gets a packed sequence; give it a padded one")
    _, count, _, _, bidirectional, batch_first = args[:6]
    x = x.transpose(0, 1) if batch_first else x
    every, ends, directions = iter(cells), [], 1 + bidirectional
    for layer in range(count):
        found = []
        for turned in range(directions):
            into, hidden = _linears(next(every))
            gates, place = into(x), layer * directions + turned
            state = tuple(each[place] for each in states) if kind == "lstm" else states[place]
            steps = []
            for step in reversed(gates.unbind(0)) if turned else gates.unbind(0):
                state = _cell(kind, step, state, hidden)
                steps.append(state[0] if kind == "lstm" else state)
            found.append(torch.stack(steps[::-1] if turned else steps))
            ends.append(state)
        x = torch.cat(found, -1)
    x = x.transpose(0, 1) if batch_first else x
    return x, *(map(torch.stack, zip(*ends, strict=True)) if kind == "lstm" else [torch.stack(ends)])


def _quantize(x: Tensor, scale: Any, zero_point: Any, dtype: torch.dtype) -> Tensor:
    return _on_grid(x, scale, zero_point, dtype)


_relu = functional.relu
_FLOATS: dict[Any, Callable[..., Any]] = {
    _OPS.linear: _linear,
    _OPS.linear_relu: _then(_relu, _linear),
    _OPS.add: torch.add,
    _OPS.add_relu: _then(_relu, torch.add),
    _OPS.matmul: torch.matmul,
    _OPS.mul: torch.mul,
    _OPS.mul_relu: _then(_relu, torch.mul),
    _OPS.cat: torch.cat,
    _OPS.hardswish: functional.hardswish,
    _OPS.sigmoid: torch.sigmoid,
    _OPS.softmax: torch.softmax,
    _OPS.layer_norm: functional.layer_norm,
    _OPS.group_norm: functional.group_norm,
    _OPS.prelu: functional.prelu,
    **{getattr(_OPS, f"conv{rank}d"): partial(_convolve, rank, False) for rank in (1, 2, 3)},
    **{getattr(_OPS, f"conv{rank}d_relu"): _then(_relu, partial(_convolve, rank, False)) for rank in (1, 2, 3)},
    _OPS.leaky_relu: lambda x, slope, _: functional.leaky_relu(x, slope),
    **{getattr(_OPS, f"conv_transpose{rank}d"): partial(_convolve, rank, True) for rank in (1, 2, 3)},
}
"""Ops of tensors of 8 bits that end with the scale and the zero point of their result, and what they are of floats."""

PLAIN: dict[Any, Any] = {
    torch.quantize_per_tensor: _quantize,
    **dict.fromkeys((torch.dequantize, Tensor.dequantize), _dequantize),
    **{op: partial(_to_grid, function) for op, function in _FLOATS.items()},
    _OPS.linear_dynamic: _dynamic_linear,
    _OPS.linear_relu_dynamic: _then(_relu, _dynamic_linear),
    _OPS.linear_dynamic_fp16: _half_linear,
    _OPS.linear_relu_dynamic_fp16: _then(_relu, _half_linear),
    _OPS.embedding_byte: _embedding,
    torch.quantized_lstm: partial(_layers, "lstm"),
    torch.quantized_gru: partial(_layers, "gru"),
    **{
        getattr(_OPS, f"quantized_{name}_cell_dynamic"): partial(_one_step, kind)
        for name, kind in {"lstm": "lstm", "gru": "gru", "rnn_tanh": "tanh", "rnn_relu": "relu"}.items()
    },
}
"""Functions of PyTorch, and those that take their places while programs are traced."""
