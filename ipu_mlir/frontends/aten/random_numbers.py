"""Ops that draw random numbers, by keys of one generator that is a variable of the program; not those PyTorch draws."""

from typing import Any

import numpy as np
import torch

from ipu_mlir.frontends.aten.rules import Made, rule
from ipu_mlir.frontends.support import drawing
from ipu_mlir.programs import random_numbers as random
from ipu_mlir.programs.session import Session

_MOST_AS_FLOAT = 1 << 24


def draw_anew(session: Session) -> None:
    """Let the next run draw by a seed of PyTorch's generator, so that ``torch.manual_seed`` decides."""
    if drawing.STATE in session:
        session[drawing.STATE] = random.key(int(torch.randint(2**62, ())))


def _normal(made: Made) -> Any:
    draw = lambda dtype: drawing.normal(made.shape, dtype)  # noqa: E731
    if made.dtype.kind != "c":
        return draw(made.dtype)
    part = np.dtype(f"f{made.dtype.itemsize // 2}")
    return (draw(part) + 1j * draw(part)) * part.type(0.5**0.5)


@rule("rand.default", "rand.generator", "rand_like.default", "rand_like.generator")
def _rand(*_: Any, made: Made, **__: Any) -> Any:
    if made.dtype.kind == "c":
        part = np.dtype(f"f{made.dtype.itemsize // 2}")
        return drawing.uniform(made.shape, part) + 1j * drawing.uniform(made.shape, part)
    return drawing.uniform(made.shape, made.dtype)


@rule("uniform.default")
def _between(x: Any, low: float = 0.0, high: float = 1.0, *, made: Made, **_: Any) -> Any:
    return drawing.uniform(made.shape, made.dtype) * (high - low) + low


@rule("randn.default", "randn.generator", "randn_like.default", "randn_like.generator")
def _randn(*_: Any, made: Made, **__: Any) -> Any:
    return _normal(made)


@rule("normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor", "normal.float_float")
def _normal_around(mean: Any, std: Any = 1.0, *_: Any, made: Made, **__: Any) -> Any:
    return _normal(made) * std + mean


@rule("prims.normal.default", "normal_functional.default")
def _normal_like(like: Any, mean: float = 0.0, std: float = 1.0, *, made: Made, **_: Any) -> Any:
    return _normal(made) * std + mean


@rule("log_normal.default")
def _log_normal(x: Any, mean: float = 1.0, std: float = 2.0, *, made: Made, **_: Any) -> Any:
    return np.exp(_normal(made) * std + mean)


@rule("exponential.default")
def _exponential(x: Any, rate: float = 1.0, *, made: Made, **_: Any) -> Any:
    return -np.log(drawing.above_zero(made.shape, made.dtype)) / rate


@rule("cauchy.default")
def _cauchy(x: Any, median: float = 0.0, width: float = 1.0, *, made: Made, **_: Any) -> Any:
    return median + width * np.tan(np.pi * (drawing.uniform(made.shape, made.dtype) - 0.5))


@rule("geometric.default")
def _geometric(x: Any, probability: float, *, made: Made, **_: Any) -> Any:
    return np.maximum(1, np.ceil(np.log(drawing.above_zero(made.shape)) / float(np.log1p(-probability))))


@rule("bernoulli.default")
def _bernoulli(probability: Any, *, made: Made, **_: Any) -> Any:
    return drawing.uniform(made.shape) < probability


@rule("bernoulli.p", "bernoulli.Tensor")
def _bernoulli_like(x: Any, probability: Any = 0.5, *, made: Made, **_: Any) -> Any:
    return drawing.uniform(made.shape) < probability


@rule("randint.default", "randint.generator")
def _below(high: int, size: Any, *, made: Made, **_: Any) -> Any:
    return _integers(0, high, made.shape)


@rule("randint.low", "randint.low_generator")
def _from_low(low: int, high: int, size: Any, *, made: Made, **_: Any) -> Any:
    return _integers(low, high, made.shape)


@rule("randint_like.default")
def _below_like(x: Any, high: int, *, made: Made, **_: Any) -> Any:
    return _integers(0, high, made.shape)


@rule("randint_like.low_dtype")
def _from_low_like(x: Any, low: int, high: int, *, made: Made, **_: Any) -> Any:
    return _integers(low, high, made.shape)


def _integers(low: int, high: int, shape: tuple[int, ...]) -> Any:
    if high - low <= _MOST_AS_FLOAT:
        return random.integers(drawing.next_key(), low, high, shape)
    upper, lower = (random.bits(drawing.next_key(), shape).astype(np.int64) for _ in range(2))
    return ((upper << 32 | lower & 0xFFFFFFFF) & (1 << 63) - 1) % (high - low) + low


@rule("randperm.default", "randperm.generator")
def _permutation(count: int, *_: Any, **__: Any) -> Any:
    return np.argsort(random.bits(drawing.next_key(), count))


@rule("multinomial.default")
def _drawn_from(weights: Any, count: int, replacement: bool = False, **_: Any) -> Any:
    """Indices by their weights: where waiting times that are exponential end first; with replacement each is new."""
    if replacement:
        return drawing.categories(weights, count)
    return np.argsort(drawing.waiting_times(weights.astype(np.float32)), -1)[..., :count]


@rule("rrelu_with_noise_functional.default")
def _leaky(
    x: Any, noise: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *_: Any, made: Made
) -> Any:
    if not training:
        return np.where(x > 0, x, x * ((lower + upper) / 2)), noise
    slope = np.where(x > 0, np.ones((), made.dtype), _between(x, lower, upper, made=made))
    return x * slope, slope
