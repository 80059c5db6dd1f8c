"""Ops of the domain ``com.microsoft`` into which onnxruntime's optimizers fuse those of ONNX."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.rules import rule
from ipu_mlir.frontends.of_onnx.window_rules import convolution, text
from ipu_mlir.frontends.support.activations import gelu, sigmoid, softmax
from ipu_mlir.specs.tensor_types import finfo

_DOMAIN = "com.microsoft"


def _scaled(x: Any, factor: float | None) -> Any:
    return x if factor in (None, 1.0) else x * np.asarray(factor, x.dtype)[()]


@rule("FusedMatMul", "TransposeMatMul", domain=_DOMAIN, always=True)
def _product(
    x: Any, y: Any, *, alpha: float | None = 1.0, transA: int | None = 0, transB: int | None = 0,
    transBatchA: int | None = 0, transBatchB: int | None = 0, **_: Any,
) -> Any:  # fmt: skip
    def turned(a: Any, of_last: int | None, of_stack: int | None) -> Any:
        a = np.moveaxis(a, 0, -2) if of_stack else a
        return np.swapaxes(a, -2, -1) if of_last else a

    return _scaled(np.matmul(turned(x, transA, transBatchA), turned(y, transB, transBatchB)), alpha)


_ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "": lambda x: x,
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": sigmoid,
    "Tanh": np.tanh,
    "LeakyRelu": lambda x, slope=0.01: np.where(x < 0, x * slope, x),
    "Clip": np.clip,
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: np.clip(x * alpha + beta, 0, 1),
}


def _activated(x: Any, name: Any, numbers: Sequence[float] | None) -> Any:
    name = text(name) if name else ""
    if name not in _ACTIVATIONS:
        raise TypeError(f"activation {name} is not supported; {', '.join(filter(None, _ACTIVATIONS))} are")
    return _ACTIVATIONS[name](x, *(np.asarray(each, x.dtype)[()] for each in numbers or ()))


@rule("FusedConv", domain=_DOMAIN, always=True)
def _convolution(
    x: Any, weight: Any, bias: Any = None, added: Any = None, *, activation: Any = None,
    activation_params: Sequence[float] | None = None, **settings: Any,
) -> Any:  # fmt: skip
    found = convolution(x, weight, bias, **settings)
    return _activated(found if added is None else found + added, activation, activation_params)


@rule("FusedGemm", domain=_DOMAIN, always=True)
def _gemm(
    x: Any, y: Any, added: Any = None, *, alpha: float | None = 1.0, beta: float | None = 1.0, transA: int | None = 0,
    transB: int | None = 0, activation: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    found = _scaled(np.matmul(x.T if transA else x, y.T if transB else y), alpha)
    numbers = [settings[each] for each in ("activation_alpha", "activation_beta") if settings.get(each) is not None]
    return _activated(found if added is None else found + _scaled(added, beta), activation, numbers)


@rule("Gelu", "BiasGelu", domain=_DOMAIN, always=True)
def _gelu(x: Any, bias: Any = None, **_: Any) -> Any:
    return gelu(x if bias is None else x + bias, by_tanh=False)


@rule("FastGelu", domain=_DOMAIN, always=True)
def _gelu_by_tanh(x: Any, bias: Any = None, **_: Any) -> Any:
    return gelu(x if bias is None else x + bias, by_tanh=True)


@rule("QuickGelu", domain=_DOMAIN, always=True)
def _gelu_by_sigmoid(x: Any, *, alpha: float | None = 1.702, **_: Any) -> Any:
    return x * sigmoid(_scaled(x, 1.702 if alpha is None else alpha))


def _normal(x: Any, scale: Any, shift: Any, epsilon: float | None, is_centred: bool = True) -> Any:
    """``x`` with mean 0, if centred, and mean square 1 along its last dimension; in f32."""
    wide = x.astype(np.float32)
    wide = wide - np.mean(wide, axis=-1, keepdims=True) if is_centred else wide
    size = np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + np.float32(epsilon or 1e-12))
    found = (wide / size).astype(x.dtype) * scale
    return found if shift is None else found + shift


@rule("SimplifiedLayerNormalization", always=True)
def _norm_of_squares(x: Any, scale: Any, *, epsilon: float | None = 1e-5, **_: Any) -> Any:
    return _normal(x, scale, None, epsilon, is_centred=False)


@rule("SkipLayerNormalization", domain=_DOMAIN, always=True)
def _norm_of_sum(
    x: Any, skip: Any, scale: Any, shift: Any = None, bias: Any = None, *, epsilon: float | None = 1e-12,
    outputs: int, **_: Any,
) -> Any:  # fmt: skip
    total = x + skip if bias is None else x + skip + bias
    return _with_sum(_normal(total, scale, shift, epsilon), total, outputs)


@rule("SkipSimplifiedLayerNormalization", domain=_DOMAIN, always=True)
def _norm_of_squares_of_sum(
    x: Any, skip: Any, scale: Any, bias: Any = None, *, epsilon: float | None = 1e-12, outputs: int, **_: Any
) -> Any:
    total = x + skip if bias is None else x + skip + bias
    return _with_sum(_normal(total, scale, None, epsilon, is_centred=False), total, outputs)


def _with_sum(found: Any, total: Any, outputs: int) -> Any:
    """The results of a norm of a sum: the norm, a mean and a deviation, which only training has, and the sum."""
    return (found, None, None, total)[:outputs]


@rule("EmbedLayerNormalization", domain=_DOMAIN, always=True)
def _embedded(
    words: Any, segments: Any, of_words: Any, of_places: Any, of_segments: Any, scale: Any, shift: Any,
    mask: Any = None, places: Any = None, *, epsilon: float | None = 1e-12, outputs: int, **_: Any,
) -> Any:  # fmt: skip
    found = np.take(_known_table(of_words, words), words, axis=0)
    place = of_places[: words.shape[1]] if places is None else np.take(_known_table(of_places, places), places, axis=0)
    found = found + place
    if segments is not None:
        found = found + np.take(_known_table(of_segments, segments), segments, axis=0)
    counted = np.zeros(words.shape[0], np.int32) if mask is None else np.sum(mask, axis=1).astype(np.int32)
    return (_normal(found, scale, shift, epsilon), counted, found)[:outputs]


def _known_table(table: Any, places: Any) -> Any:
    return places.program.constant(table) if hasattr(places, "program") and not hasattr(table, "program") else table


@rule("Attention", domain=_DOMAIN, always=True)
def _attention(
    x: Any, weights: Any, bias: Any = None, mask: Any = None, past: Any = None, added: Any = None, *, num_heads: int,
    unidirectional: int | None = 0, qkv_hidden_sizes: Sequence[int] | None = None, scale: float | None = None,
    mask_filter_value: float | None = -10000.0, outputs: int, **_: Any,
) -> Any:  # fmt: skip
    """One product gives queries, keys and values."""
    whole = np.matmul(x, weights)
    whole = whole if bias is None else whole + bias
    sizes = qkv_hidden_sizes or [whole.shape[-1] // 3] * 3
    parts = np.split(whole, np.cumsum(sizes)[:2].tolist(), axis=-1)
    query, key, value = (_heads(each, num_heads) for each in parts)
    if past is not None:
        key, value = np.concatenate([past[0], key], axis=2), np.concatenate([past[1], value], axis=2)
    found = _attended(query, key, value, mask, added, scale, mask_filter_value, bool(unidirectional))
    return (found, np.stack([key, value]))[:outputs]


@rule("MultiHeadAttention", domain=_DOMAIN, always=True)
def _attention_of_parts(
    query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None, added: Any = None, *, num_heads: int,
    scale: float | None = None, mask_filter_value: float | None = -10000.0, unidirectional: int | None = 0, **_: Any,
) -> Any:  # fmt: skip
    if len(query.shape) != 3 or any(each is not None and len(each.shape) != 3 for each in (key, value)):
        raise TypeError("its query, key and value are (batch, length, features); other layouts are not supported")
    if bias is not None:
        ends = np.cumsum([query.shape[-1], key.shape[-1]]).tolist()
        of_query, of_key, of_value = np.split(bias, ends, axis=-1)
        query, key, value = query + of_query, key + of_key, value + of_value
    query, key, value = (_heads(each, num_heads) for each in (query, key, value))
    return _attended(query, key, value, mask, added, scale, mask_filter_value, bool(unidirectional))


def _heads(x: Any, count: int) -> Any:
    return np.swapaxes(np.reshape(x, (*x.shape[:2], count, -1)), 1, 2)


def _attended(
    query: Any, key: Any, value: Any, mask: Any, added: Any, scale: float | None, filler: float | None, is_causal: bool
) -> Any:
    """Attention of heads, put side by side; ``mask`` is 1 where a key counts, or has the number of those that do."""
    scores = _scaled(np.matmul(query, np.swapaxes(key, -2, -1)), scale or query.shape[-1] ** -0.5)
    rows, columns = scores.shape[-2:]
    if mask is not None:
        if len(mask.shape) == 1:
            if mask.shape[0] != query.shape[0]:
                raise TypeError("masks of first and last keys are not supported; give the number of keys, or a mask")
            mask = np.arange(columns) < mask[:, None]
        mask = np.reshape(mask, (mask.shape[0], *(1,) * (4 - len(mask.shape)), *mask.shape[1:]))
        scores = np.where(mask != 0, scores, scores + np.asarray(filler or -10000.0, scores.dtype))
    scores = scores if added is None else scores + added
    if is_causal:
        scores = np.where(np.tri(rows, columns, columns - rows, dtype=bool), scores, finfo(scores.dtype).min)
    found = np.swapaxes(np.matmul(softmax(scores), value), 1, 2)
    return np.reshape(found, (*found.shape[:2], -1))
