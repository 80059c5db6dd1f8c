"""Norms and what training does with them."""

from typing import Any

from benchmarks.beside.case import Case
from benchmarks.workload import Array
from benchmarks.workloads.arrays import Numbers


def _rows(rows: int, columns: int) -> list[Array]:
    numbers = Numbers()
    return [
        numbers.normal(rows, columns),
        numbers.near_one(columns),
        numbers.near_zero(columns),
        numbers.normal(rows, columns),
    ]


def _images(images: int, size: int, channels: int) -> list[Array]:
    numbers, shape = Numbers(), (images, channels, size, size)
    return [numbers.normal(*shape), numbers.near_one(channels), numbers.near_zero(channels), numbers.normal(*shape)]


def _layer_norm_jax(x: Any, gain: Any, bias: Any, _: Any) -> Any:
    import jax

    return jax.nn.standardize(x, axis=-1) * gain + bias


def _layer_norm_torch(x: Any, gain: Any, bias: Any, _: Any) -> Any:
    import torch

    return torch.nn.functional.layer_norm(x, gain.shape, gain, bias)


def _gradient_jax(norm: Any) -> Any:
    """Gradients of the first three arguments, for that of the result, the fourth."""

    def gradients(*args: Any) -> Any:
        import jax

        return jax.vjp(lambda *first: norm(*first, None), *args[:3])[1](args[3])

    return gradients


def _gradient_torch(norm: Any) -> Any:
    def gradients(*args: Any) -> Any:
        import torch

        first = [each.detach().requires_grad_() for each in args[:3]]
        return torch.autograd.grad(norm(*first, None), first, args[3])

    return gradients


def _batch_norm_jax(x: Any, gain: Any, bias: Any, _: Any) -> Any:
    import jax

    y = jax.nn.standardize(x, axis=(0, 2, 3))
    return y * gain[:, None, None] + bias[:, None, None]


def _batch_norm_torch(x: Any, gain: Any, bias: Any, _: Any) -> Any:
    import torch

    return torch.nn.functional.batch_norm(x, None, None, gain, bias, training=True)


def _column_norm_jax(x: Any, gain: Any, bias: Any, _: Any) -> Any:
    import jax

    return jax.nn.standardize(x, axis=0) * gain + bias


def _column_softmax_jax(x: Any) -> Any:
    import jax

    return jax.nn.softmax(x, axis=0)


def _column_softmax_torch(x: Any) -> Any:
    import torch

    return torch.softmax(x, 0)


def _group_norm_jax(x: Any, gain: Any, bias: Any, _: Any) -> Any:
    import jax

    images, channels, *size = x.shape
    y = jax.nn.standardize(x.reshape(images, 8, channels // 8, *size), axis=(2, 3, 4)).reshape(x.shape)
    return y * gain[:, None, None] + bias[:, None, None]


def _group_norm_torch(x: Any, gain: Any, bias: Any, _: Any) -> Any:
    import torch

    return torch.nn.functional.group_norm(x, 8, gain, bias)


def _softmax_gradient_jax(logits: Any, labels: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def loss(logits: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    return jax.value_and_grad(loss)(logits)


def _softmax_gradient_torch(logits: Any, labels: Any) -> Any:
    import torch

    logits = logits.detach().requires_grad_()
    loss = torch.nn.functional.cross_entropy(logits, labels.long())
    return loss.detach(), *torch.autograd.grad(loss, logits)


def _adam(count: int) -> list[Array]:
    numbers = Numbers()
    return [numbers.normal(count), numbers.normal(count), numbers.normal(count), abs(numbers.normal(count))]


def _adam_jax(w: Any, g: Any, m: Any, v: Any) -> Any:
    import jax.numpy as jnp

    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - 1e-3 * (m / 0.19) / (jnp.sqrt(v / 0.002) + 1e-8), m, v


def _adam_torch(w: Any, g: Any, m: Any, v: Any) -> Any:
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - 1e-3 * (m / 0.19) / ((v / 0.002).sqrt() + 1e-8), m, v


_ROWS = ({"rows": 2048, "columns": 1024}, {"rows": 8, "columns": 32})
_IMAGES = ({"images": 8, "size": 32, "channels": 64}, {"images": 2, "size": 4, "channels": 16})

CASES = (
    Case("layer_norm", _rows, _layer_norm_jax, _layer_norm_torch, *_ROWS),
    Case("layer_norm_gradient", _rows, _gradient_jax(_layer_norm_jax), _gradient_torch(_layer_norm_torch), *_ROWS),
    Case("batch_norm", _images, _batch_norm_jax, _batch_norm_torch, *_IMAGES),
    Case("batch_norm_gradient", _images, _gradient_jax(_batch_norm_jax), _gradient_torch(_batch_norm_torch), *_IMAGES),
    Case("column_norm_gradient", _rows, _gradient_jax(_column_norm_jax), _gradient_torch(_batch_norm_torch), *_ROWS),
    Case(
        "column_softmax",
        lambda rows, columns: [Numbers().normal(rows, columns)],
        _column_softmax_jax,
        _column_softmax_torch,
        *_ROWS,
    ),
    Case("group_norm_gradient", _images, _gradient_jax(_group_norm_jax), _gradient_torch(_group_norm_torch), *_IMAGES),
    Case(
        "softmax_gradient",
        lambda rows, columns: [Numbers().normal(rows, columns), Numbers().classes(columns, rows)],
        _softmax_gradient_jax,
        _softmax_gradient_torch,
        *_ROWS,
    ),
    Case("adam_step", _adam, _adam_jax, _adam_torch, {"count": 1_000_000}, {"count": 100}),
)
