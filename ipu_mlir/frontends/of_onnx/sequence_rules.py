"""Ops of ONNX along a dimension, and casts, that the reference implementation computes in place."""

from typing import Any

import numpy as np
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from ipu_mlir.frontends.of_onnx.narrow import is_narrow, narrowed
from ipu_mlir.frontends.of_onnx.results import Texts
from ipu_mlir.frontends.of_onnx.rules import known, rule, traced_like
from ipu_mlir.frontends.of_onnx.window_rules import text
from ipu_mlir.tracing.elementwise import apply_unary_float
from ipu_mlir.tracing.functions.orders import argtop


@rule("Erf")
def _erf(x: Any, **_: Any) -> Any:
    return apply_unary_float("erf", x)


@rule("Gather")
def _gather(x: Any, indices: Any, *, axis: int | None = 0, **_: Any) -> Any:
    return np.take(traced_like(x, indices), indices, axis=axis or 0)


@rule("TopK")
def _top_k(x: Any, k: Any, *, axis: int | None = -1, largest: int | None = 1, **_: Any) -> Any:
    axis = -1 if axis is None else axis
    places = argtop(x, int(np.reshape(known("TopK", k), ())), axis, largest != 0)
    return np.take_along_axis(x, places, axis), places.astype(np.int64)


def _running(run: Any, start: int) -> Any:
    """The rule of a running sum or product."""

    def apply(x: Any, axis: Any, *, exclusive: int | None = 0, reverse: int | None = 0, **_: Any) -> Any:
        along = int(np.reshape(known("a running sum", axis), ())) % len(x.shape)
        found = run(np.flip(x, along) if reverse else x, axis=along).astype(x.dtype)
        if exclusive:
            first = np.full([1 if each == along else size for each, size in enumerate(x.shape)], start, x.dtype)
            rest = found[(*[slice(None)] * along, slice(None, -1))]
            found = np.concatenate([x.program.constant(first), rest], axis=along)
        return np.flip(found, along) if reverse else found

    return apply


_RUNNING = (rule("CumSum")(_running(np.cumsum, 0)), rule("CumProd")(_running(np.cumprod, 1)))


@rule("Cast")
def _cast(x: Any, *, to: int, **_: Any) -> Any:
    if isinstance(x, Texts):
        return x if to == TensorProto.STRING else NotImplemented
    if to == TensorProto.STRING:
        raise TypeError("numbers that come when the program runs become no text; let the model give the numbers")
    dtype = np.dtype(tensor_dtype_to_np_dtype(to))
    return narrowed(x, dtype) if is_narrow(dtype) else NotImplemented


@rule("CastLike")
def _cast_like(x: Any, like: Any, *, types: Any, **_: Any) -> Any:
    return NotImplemented if types[1] is None else narrowed(x, types[1])


@rule("TensorScatter")
def _tensor_scatter(
    past: Any, update: Any, first: Any = None, *, mode: Any = "linear", axis: int | None = -2, **_: Any
) -> Any:
    """``update`` written to ``past`` along a dimension, of each sample from its own element on."""
    past = traced_like(past, update, first)
    along = (-2 if axis is None else axis) % len(past.shape)
    samples, steps = past.shape[0], np.arange(update.shape[along])
    places = np.broadcast_to(steps, (samples, len(steps)))
    if first is not None:
        places = np.reshape(first, (-1, 1)) + steps
    if text(mode) == "circular":
        places = places % past.shape[along]
    rows, values = np.moveaxis(past, along, 1), np.moveaxis(traced_like(update, past), along, 1)
    return np.moveaxis(rows.at[np.arange(samples)[:, None], places].set(values), 1, along)


@rule("LinearAttention")
def _linear_attention(
    query: Any, key: Any, value: Any, past: Any = None, decay: Any = None, beta: Any = None, *, q_num_heads: int,
    kv_num_heads: int, scale: float | None = 0.0, update_rule: Any = "gated_delta", **_: Any,
) -> Any:  # fmt: skip
    """Attention without a softmax: a state for each head that every token decays, corrects and is read from."""
    batch, length, _ = query.shape
    dtype, kind = query.dtype, text(update_rule)

    def heads(x: Any, count: int) -> Any:
        return np.moveaxis(np.reshape(x, (batch, length, count, -1)), 2, 1).astype(np.float32)

    q, k, v = heads(query, q_num_heads), heads(key, kv_num_heads), heads(value, kv_num_heads)
    shrinks: Any = None if decay is None else np.exp(heads(decay, kv_num_heads))
    rates: Any = None if beta is None else heads(beta, beta.shape[-1])
    state = np.zeros((batch, kv_num_heads, k.shape[-1], v.shape[-1]), np.float32)
    state = traced_like(state, query, key) if past is None else past.astype(np.float32)
    factor = scale or 1.0 / k.shape[-1] ** 0.5
    read = []
    for token in range(length):
        now = v[:, :, token]
        if kind in ("gated", "gated_delta"):
            state = state * shrinks[:, :, token][..., None]
        if kind in ("delta", "gated_delta"):
            now = rates[:, :, token] * (now - np.einsum("bhdm,bhd->bhm", state, k[:, :, token]))
        state = state + k[:, :, token][..., None] * now[:, :, None, :]
        shared = np.repeat(state, q_num_heads // kv_num_heads, axis=1)
        read.append(np.einsum("bhd,bhdm->bhm", q[:, :, token], shared) * np.float32(factor))
    found = np.reshape(np.moveaxis(np.stack(read, axis=2), 1, 2), (batch, length, -1))
    return found.astype(dtype), state.astype(dtype if past is None else past.dtype)
