"""Random numbers from explicit keys, and generators that keep one.

    key = ipu.random.key(7)
    noise = ipu.random.normal(ipu.random.fold_in(key, step), (4, 3))

A key is an array of four int32. A function of one key, shape and type gives one array, on the host, in traced
functions, on any number of tiles: use a key once, and make others by ``fold_in`` and ``split``. No gradient goes to it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from ml_dtypes import finfo

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.programs.replicas import replica_index
from ipu_mlir.programs.variable import Variable
from ipu_mlir.tracing.codelets import apply_codelet
from ipu_mlir.tracing.control.custom_gradients import custom_vjp
from ipu_mlir.tracing.control.outlined import outlined
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import tensor

Shape = Sequence[int] | int

_FOLDED = np.array([0, 0, 0, 0x1BD11BDA], np.int32)
_SPLIT = np.array([0, 0, 0, 0x2545F491], np.int32)
_NUMBER = np.array([0, 0, 1, 0], np.int32)
_DRAW = np.array([0, 0, 0, 1], np.int32)
"""The next key of a generator, in another word than what is folded in: draw 0 folded with 1 is not draw 1 with 0."""


def key(seed: int) -> np.ndarray:
    """The key of a seed, an integer of 64 bits.

    Raises:
        TypeError: the seed is no integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TraceTypeError(f"random.key({seed!r}): a seed is an integer; fold traced ones into a key by fold_in")
    whole = int(seed) & (1 << 64) - 1
    return np.array([whole & 0xFFFFFFFF, whole >> 32, 0, 0], np.uint32).view(np.int32)


def fold_in(key: Any, number: Any) -> Any:
    """Another key, for each integer one, such as the number of a step or of a replica, traced or not."""
    if isinstance(number, int | np.integer):
        number = np.array(int(number) & 0xFFFFFFFF, np.uint32).view(np.int32)
    return _drawn("random_bits", _key("fold_in", key) ^ (_NUMBER * number.astype(np.int32) + _FOLDED), (4,), np.int32)


def split(key: Any, count: int = 2) -> Any:
    """``count`` other keys, shape ``(count, 4)``."""
    return _drawn("random_bits", _key("split", key) ^ _SPLIT, (count, 4), np.int32)


def bits(key: Any, shape: Shape = ()) -> Any:
    """Random bits, as int32."""
    return _drawn("random_bits", _key("bits", key), shape, np.int32)


def uniform(key: Any, shape: Shape = (), low: Any = 0.0, high: Any = 1.0, dtype: Any = np.float32) -> Any:
    """Numbers from ``low`` on and below ``high``, in steps of 2**-24 of their distance, or of the bits of the type."""
    found, kind = _drawn("random_uniform", _key("uniform", key), shape, np.float32), _float("uniform", dtype)
    bits_of_type = finfo(kind).nmant + 1
    if bits_of_type < 24:
        found = np.floor(found * np.float32(2.0**bits_of_type)) * np.float32(2.0**-bits_of_type)
    return (found if (low, high) == (0.0, 1.0) else found * (high - low) + low).astype(kind)


def normal(key: Any, shape: Shape = (), mean: Any = 0.0, deviation: Any = 1.0, dtype: Any = np.float32) -> Any:
    """Normal numbers."""
    found = _drawn("random_normal", _key("normal", key), shape, np.float32)
    return (found if (mean, deviation) == (0.0, 1.0) else found * deviation + mean).astype(_float("normal", dtype))


def truncated_normal(key: Any, shape: Shape = (), dtype: Any = np.float32) -> Any:
    """Normal numbers of those between -2 and 2."""
    found = _drawn("random_truncated_normal", _key("truncated_normal", key), shape, np.float32)
    return found.astype(_float("truncated_normal", dtype))


def bernoulli(key: Any, probability: Any = 0.5, shape: Shape = ()) -> Any:
    """True with a probability."""
    return _drawn("random_uniform", _key("bernoulli", key), shape, np.float32) < probability


def integers(key: Any, low: int, high: int, shape: Shape = ()) -> Any:
    """Integers of int32, from ``low`` on and below ``high``, which are at most 2**24 apart, each as likely.

    Raises:
        ValueError: there is none, or they are more.
    """
    if not 0 < high - low <= 1 << 24:
        raise TraceValueError(f"random.integers from {low} to {high}: high is above low, by at most {1 << 24}")
    found = _drawn("random_uniform", _key("integers", key), shape, np.float32)
    return np.floor(found * np.float32(high - low)).astype(np.int32) + np.int32(low)


def permutation(key: Any, x: Any) -> Any:
    """The rows of a tensor in an order drawn at random; of a number ``n``, the numbers below it, as int32."""
    if isinstance(x, int | np.integer):
        return np.argsort(bits(key, (int(x),)), kind="stable").astype(np.int32)
    order = np.argsort(bits(key, (x.shape[0],)), kind="stable")
    return (tensor(order.program, x) if isinstance(order, Symbol) else x)[order]


def categorical(key: Any, logits: Any, axis: int = -1) -> Any:
    """Along ``axis`` the place of one element, drawn with the softmax of ``logits`` as probabilities; int32."""
    drawn = _drawn("random_uniform", _key("categorical", key), logits.shape, np.float32)
    noise = -np.log(-np.log(np.maximum(drawn, np.finfo(np.float32).tiny)))
    return np.argmax(logits + noise.astype(logits.dtype), axis=axis).astype(np.int32)


def dropout(key: Any, x: Any, rate: float, noise_shape: Sequence[int | None] | None = None) -> Any:
    """Zeros with probability ``rate``, and the other elements by 1 / (1 - rate).

    A gradient draws the choice again, by the same code, and nothing is stored for it.

    Args:
        noise_shape: of the choice, where it is one for several elements: 1 in those dimensions.

    Raises:
        ValueError: a rate that is no probability below 1, or a shape that does not fit.
    """
    if not 0 <= rate < 1:
        raise TraceValueError(f"random.dropout with rate {rate}: it is a number from 0 and below 1")
    shape = tuple(x.shape) if noise_shape is None else tuple(noise_shape)
    if len(shape) != len(x.shape) or any(a not in (1, None, b) for a, b in zip(shape, x.shape, strict=True)):
        raise TraceValueError(f"random.dropout with noise_shape {shape}: each dimension is that of {x.shape}, or 1")
    shape = tuple(own if each is None else each for each, own in zip(shape, x.shape, strict=True))

    def dropped(key: Any, values: Any) -> Any:
        kept = bernoulli(key, np.float32(1 - rate), shape)
        return np.where(kept, values * np.asarray(1 / (1 - rate), x.dtype), np.zeros((), x.dtype))

    if not isinstance(key, Symbol) and not isinstance(x, Symbol):
        return dropped(key, x)
    by_one_code = outlined(dropped)

    @custom_vjp
    def whole(key: Any, values: Any) -> Any:
        return by_one_code(key, values)

    whole.defvjp(
        lambda key, values: (by_one_code(key, values), key),
        lambda key, slope: (np.zeros(4, np.int32), whole(key, slope)),
    )
    return whole(key, x)


class Generator:
    """A variable that holds a key, and another key each time that a traced function asks.

        noise = ipu.random.Generator(7, name="noise")

        @ipu.function
        def step(x):
            return x + ipu.random.normal(noise.next_key(), x.shape)

    Args:
        seed: of the first key; to begin anew, assign ``generator.state`` a ``key(seed)`` in a traced function, or give
            it to a session by the name of the variable.
        name: of the variable.
        identical: whether all replicas draw the same numbers.
    """

    def __init__(self, seed: int = 0, name: str | None = None, *, identical: bool = True) -> None:
        self.state = Variable(key(seed), name)
        self._identical = identical

    def next_key(self) -> Any:
        """A key that no other call gets; nor another replica, unless they are to draw the same."""
        now = self.state.value
        self.state.assign(now + _DRAW)
        return now if self._identical else fold_in(now, replica_index())


def _key(what: str, given: Any) -> Any:
    found = given if isinstance(given, Symbol) else np.asarray(given)
    if found.shape != (4,) or found.dtype != np.int32:
        raise TraceTypeError(
            f"random.{what} takes a key of four int32, as ipu.random.key(seed) gives one; got {found.dtype} of shape "
            f"{found.shape}"
        )
    return found


def _float(what: str, dtype: Any) -> np.dtype[Any]:
    found = np.dtype(dtype)
    if not np.can_cast(np.int8, found, "same_kind") or found.kind == "c" or found.kind in "iu":
        raise TraceTypeError(f"random.{what} draws floats, got dtype {found}; use random.integers")
    return found


def _drawn(codelet: str, key: Any, shape: Shape, dtype: Any) -> Any:
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    count, kind = int(np.prod(sizes, dtype=np.int64)), np.dtype(dtype)
    if isinstance(key, Symbol):
        return apply_codelet(codelet, codelet, key, types=[kind], n=count)[0].reshape(sizes)
    run = codelet_named(codelet).vectorised
    assert run is not None, "random numbers have a fast form"
    return run(key, np.empty(count, kind))[0].reshape(sizes)
