"""Derivatives that functions of PyTorch define themselves: they come along where the functions are called."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
SMALL = ipu.Target(tiles_per_ipu=4)


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * torch.round(x)

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        return slopes[0]


class Layer(torch.autograd.Function):
    """With numbers and integers among what it takes and gives, and a product that both parts read."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any, scale: float, rows: Any) -> Any:
        y = torch.tanh(x @ w)
        is_kept = y > 0
        ctx.save_for_backward(x, w)
        ctx.is_kept, ctx.scale = is_kept, scale
        ctx.mark_non_differentiable(is_kept)
        return y * scale, is_kept, y.sum(1)[rows]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *slopes: Any) -> Any:
        x, w = ctx.saved_tensors
        slope = slopes[0] * ctx.scale * ctx.is_kept * 7
        return slope @ w.T, x.T @ slope, None, None


class Turned(torch.autograd.Function):
    @staticmethod
    def forward(z: Any) -> Any:
        return z * z

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        (z,) = ctx.saved_tensors
        return 2.5 * z.conj() * slopes[0] + 1j * slopes[0]


class Written(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        return 9 * slopes[0]


@torch.library.custom_op("test_torch_derivatives::square", mutates_args=())
def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


square.register_fake(torch.empty_like)
square.register_autograd(
    lambda ctx, slope: slope * ctx.x * 7, setup_context=lambda ctx, inputs, output: setattr(ctx, "x", inputs[0])
)


def _layer(x: Any, w: Any, rows: Any) -> Any:
    y, is_kept, some = Layer.apply(x, w, 3.0, rows)
    return (y * y * is_kept).sum() + some.sum()


def _of_its_own(x: Any) -> Any:
    other = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(Straight.apply(other * other).sum(), other)
    return (slope * x).sum()


def _values(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.filterwarnings("error:.*has a backward of its own")
@pytest.mark.parametrize(
    ("function", "args", "by"),
    [
        pytest.param(lambda x: 2 * Straight.apply(Straight.apply(x)).sum(), [_values(4)], [0], id="function"),
        pytest.param(_layer, [_values(3, 4), _values(4, 5), np.array([0, 2])], [0, 1], id="layer"),
        pytest.param(lambda x: Turned.apply(x * (1 + 2j)).real.sum(), [_values(4)], [0], id="complex numbers"),
        pytest.param(
            lambda x: (square(x) + torch.ops.test_torch_derivatives.square(x)).sum(), [_values(4)], [0], id="op"
        ),
        pytest.param(_of_its_own, [_values(4)], [0], id="a gradient in the function"),
    ],
)
def test_derivatives_that_pytorch_has_come_along(function: Any, args: list[Any], by: list[int]) -> None:
    found = ipu.function(ipu.value_and_grad(ipu.imported(function, "torch"), by), target=SMALL)(*args)
    tensors = [torch.tensor(each, requires_grad=place in by) for place, each in enumerate(args)]
    value = function(*tensors)
    slopes = torch.autograd.grad(value, [tensors[place] for place in by])
    np.testing.assert_allclose(found[0], value.detach(), rtol=1e-4)
    for own, theirs in zip(found[1], slopes, strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-4, atol=1e-5)


def test_numbers_that_the_forward_function_draws_are_those_of_the_backward_one() -> None:
    class Dropped(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mask = torch.rand_like(x) > 0.5
            return x * ctx.mask

        @staticmethod
        def backward(ctx: Any, *slopes: Any) -> Any:
            return slopes[0] * ctx.mask * 3

    dropped = ipu.imported(Dropped.apply, "torch")

    def both(x: Any) -> Any:
        y = dropped(x)
        return y.sum(), y

    (_, y), slope = ipu.function(ipu.value_and_grad(both, has_aux=True), target=SMALL)(np.ones(64, np.float32))
    assert 10 < y.sum() < 54
    np.testing.assert_array_equal(slope, 3 * y)


def test_a_backward_that_cannot_be_traced_by_itself_is_said_not_to_count() -> None:
    called = ipu.imported(lambda x: Written.apply(x * 3).sum(), "torch")
    with pytest.warns(UserWarning, match="Written has a backward of its own, which cannot be traced by itself; grad"):
        slope = ipu.function(ipu.grad(called), target=SMALL)(_values(4))
    np.testing.assert_array_equal(slope, [6] * 4)
    y = Straight.apply(torch.ones(2, requires_grad=True))
    assert y.requires_grad  # PyTorch's own is as it was
