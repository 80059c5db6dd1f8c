"""Orders, reductions, histograms, and what reads and writes at places that are data."""

from typing import Any

from benchmarks.beside.case import Case
from benchmarks.workload import Array
from benchmarks.workloads.arrays import Numbers


def _matrix(rows: int, columns: int) -> list[Array]:
    return [Numbers().normal(rows, columns)]


def _sort_jax(x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.sort(x)


def _argsort_jax(x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.argsort(x).astype(jnp.int32)


def _top_k_jax(x: Any) -> Any:
    import jax

    return jax.lax.top_k(x, 8)


def _argmax_jax(x: Any) -> Any:
    return x.argmax(1).astype("int32"), x.argmin(0).astype("int32")


def _argmax_torch(x: Any) -> Any:
    return x.argmax(1).int(), x.argmin(0).int()


def _odd_jax(x: Any) -> Any:
    return x.sum((0, 2)), x.min(1), (x * x).mean((0, 1)), x.max((1, 2))


def _odd_torch(x: Any) -> Any:
    return x.sum((0, 2)), x.amin(1), (x * x).mean((0, 1)), x.amax((1, 2))


def _transposes_jax(x: Any) -> Any:
    return x.transpose(2, 1, 0), x.transpose(0, 2, 1), x.transpose(1, 0, 2)


def _transposes_torch(x: Any) -> Any:
    return tuple(x.permute(order).contiguous() for order in ((2, 1, 0), (0, 2, 1), (1, 0, 2)))


def _cube(size: int) -> list[Array]:
    return [Numbers().normal(size, size + 1, size)]


def _cumulative_jax(x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jnp.cumsum(x, 1), jax.lax.cummax(x, 0)


def _cumulative_torch(x: Any) -> Any:
    return x.cumsum(1), x.cummax(0).values


def _embedding(rows: int, width: int, tokens: int) -> list[Array]:
    numbers = Numbers()
    return [numbers.classes(rows, tokens), numbers.normal(tokens, width), numbers.normal(rows, width)]


def _embedding_jax(places: Any, gradient: Any, table: Any) -> Any:
    import jax

    return jax.vjp(lambda table: table[places], table)[1](gradient)[0]


def _embedding_torch(places: Any, gradient: Any, table: Any) -> Any:
    import torch

    return torch.ops.aten.embedding_dense_backward(gradient, places.long(), len(table), -1, False)


def _histogram_jax(x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.zeros(256, jnp.int32).at[x].add(1)


def _histogram_torch(x: Any) -> Any:
    return x.bincount(minlength=256).int()


def _interpolate(count: int) -> list[Array]:
    import numpy as np

    numbers = Numbers()
    return [np.sort(numbers.normal(64)), numbers.normal(64), numbers.normal(count)]


def _interpolate_jax(places: Any, values: Any, x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.interp(x, places, values)


def _interpolate_torch(places: Any, values: Any, x: Any) -> Any:
    import torch

    i = torch.searchsorted(places, x, right=True).clamp(1, len(places) - 1)
    low, high = places[i - 1], places[i]
    share = ((x - low) / (high - low)).clamp(0, 1)
    return values[i - 1] + share * (values[i] - values[i - 1])


def _gather_jax(x: Any, places: Any) -> Any:
    return x[places]


def _k_means_jax(points: Any, centres: Any) -> Any:
    import jax
    import jax.numpy as jnp

    apart = (centres * centres).sum(1) - 2 * points @ centres.T
    chosen = jax.nn.one_hot(apart.argmin(1), len(centres))
    return chosen.T @ points / jnp.maximum(chosen.sum(0), 1)[:, None]


def _k_means_torch(points: Any, centres: Any) -> Any:
    import torch

    apart = (centres * centres).sum(1) - 2 * points @ centres.T
    chosen = apart.argmin(1)
    sums = torch.zeros_like(centres).index_add_(0, chosen, points)
    return sums / chosen.bincount(minlength=len(centres)).clamp(1)[:, None]


def _one_hot_jax(places: Any, table: Any) -> Any:
    import jax

    return jax.nn.one_hot(places, len(table)) @ table


def _one_hot_torch(places: Any, table: Any) -> Any:
    import torch

    return torch.nn.functional.one_hot(places.long(), len(table)).float() @ table


_LINE = ({"count": 200_000}, {"count": 100})


def _line(count: int) -> list[Array]:
    return [Numbers().normal(count)]


CASES = (
    Case("sort", _line, _sort_jax, lambda x: x.sort().values, *_LINE),
    Case("argsort", _line, _argsort_jax, lambda x: x.argsort(stable=True).int(), *_LINE),
    Case(
        "sort_rows",
        _matrix,
        _sort_jax,
        lambda x: x.sort().values,
        {"rows": 256, "columns": 1000},
        {"rows": 3, "columns": 20},
    ),
    Case(
        "top_k",
        _matrix,
        _top_k_jax,
        lambda x: (x.topk(8).values, x.topk(8).indices.int()),
        {"rows": 64, "columns": 10_000},
        {"rows": 3, "columns": 20},
    ),
    Case("argmax", _matrix, _argmax_jax, _argmax_torch, {"rows": 1000, "columns": 500}, {"rows": 3, "columns": 20}),
    Case("odd_reductions", _cube, _odd_jax, _odd_torch, {"size": 100}, {"size": 5}),
    Case("transposes", _cube, _transposes_jax, _transposes_torch, {"size": 100}, {"size": 5}),
    Case(
        "cumulative_sums",
        _matrix,
        _cumulative_jax,
        _cumulative_torch,
        {"rows": 512, "columns": 512},
        {"rows": 3, "columns": 20},
    ),
    Case(
        "embedding_gradient",
        _embedding,
        _embedding_jax,
        _embedding_torch,
        {"rows": 20_000, "width": 128, "tokens": 4096},
        {"rows": 10, "width": 8, "tokens": 20},
    ),
    Case("histogram", lambda count: [Numbers().classes(256, count)], _histogram_jax, _histogram_torch, *_LINE),
    Case("interpolate", _interpolate, _interpolate_jax, _interpolate_torch, *_LINE),
    Case(
        "gather",
        lambda count: [Numbers().normal(count), Numbers().classes(count, count)],
        _gather_jax,
        _gather_jax,
        {"count": 50_000},
        {"count": 100},
    ),
    Case(
        "k_means",
        lambda points, centres, width: [Numbers().normal(points, width), Numbers().normal(centres, width) + 0.1],
        _k_means_jax,
        _k_means_torch,
        {"points": 20_000, "centres": 32, "width": 16},
        {"points": 20, "centres": 3, "width": 4},
    ),
    Case(
        "one_hot_product",
        lambda tokens, rows, width: [Numbers().classes(rows, tokens), Numbers().normal(rows, width)],
        _one_hot_jax,
        _one_hot_torch,
        {"tokens": 1024, "rows": 512, "width": 256},
        {"tokens": 6, "rows": 8, "width": 4},
    ),
)
