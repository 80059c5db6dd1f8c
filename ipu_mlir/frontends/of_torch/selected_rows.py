"""What functions of PyTorch make of rows that a mask selects.

Reductions, losses and joins of selected rows have shapes that do not depend on how many there are.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from itertools import starmap
from math import inf, prod
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from ipu_mlir.frontends.of_torch.selection import Selection, is_same, refused, together
from ipu_mlir.frontends.support.selecting import words

_OF_ROWS = words(
    "linear layer_norm rms_norm embedding one_hot dropout relu6 hardtanh softplus gelu leaky_relu elu selu celu mish "
    "silu hardswish logsigmoid float double half bfloat16 long int bool to type_as clone detach contiguous zeros_like "
    "ones_like full_like masked_fill expand_as invert and or xor mod truediv floordiv radd rsub rmul rtruediv rdiv "
    "rfloordiv rpow rmod rand ror rxor"
)
"""Functions that compute a row from the same row, beside those that PyTorch calls pointwise."""
_OF_ELEMENTS = words("float double half bfloat16 long int bool to clone detach contiguous relu6 gelu silu softplus")
_ALONG = words(
    "softmax log_softmax softmin sum mean amax amin argmax argmin max min norm normalize logsumexp cumsum var std all "
    "any prod unsqueeze squeeze topk sort argsort cosine_similarity median"
)
"""Functions along a dimension, which compute a row from the same row where it is not the first."""
_DIM_IS_THIRD = frozenset(("norm", "normalize", "topk", "cosine_similarity"))
_DIM = {"normalize": 1, "cosine_similarity": 1, "topk": -1, "sort": -1, "argsort": -1}
_JOINS = ("cat", "concat", "concatenate")
_PARTS = {"unbind": 1, "chunk": 2, "tensor_split": 2}
"""Functions that give parts of a tensor, and which argument is the dimension."""
_NEUTRAL = {
    "sum": 0,
    "nansum": 0,
    "norm": 0,
    "count_nonzero": 0,
    "any": False,
    "all": True,
    "prod": 1,
    "logsumexp": -inf,
}
"""What changes nothing in a reduction."""


def applied(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``func`` of arguments of which some are what a mask selects."""
    name = getattr(func, "__name__", str(func))
    if name.endswith("_") and not name.endswith("__") and isinstance(args[0], Selection):
        result = applied(getattr(Tensor, name[:-1]), args, kwargs)
        args[0].rows, args[0].mask, args[0].source = result.rows, result.mask, result.source
        return args[0]
    name = name.strip("_")
    if name in _JOINS and (args[1] if len(args) > 1 else kwargs.get("dim", 0)) == 0:
        one = next(each for each in args[0] if isinstance(each, Selection))
        parts = [
            each if isinstance(each, Selection) else type(one)(each, torch.ones(len(each)) > 0) for each in args[0]
        ]
        if len(parts) == 1:
            return parts[0]
        source = ("cat", *(each.source for each in parts))
        return one.filled(torch.cat([each.rows for each in parts]), torch.cat([each.mask for each in parts]), source)
    if name in ("index_add", "index_add_") and not isinstance(args[0], Selection) and args[1] == 0:
        known = [len(each) for each in args[2:4] if isinstance(each, Tensor)]
        if known:  # of one of both the number of rows is known
            given = [each.counted(known[0]) if isinstance(each, Selection) else each for each in args[2:4]]
            return func(*args[:2], *given, **kwargs)
        (place, source), mask, _ = together([args[2], args[3]])
        return func(args[0], 0, place, Selection(source, mask).where(0), **kwargs)
    x = args[0]
    if isinstance(x, Selection) and name == "flatten" and (args[1:] or kwargs):
        start = kwargs.get("start_dim", args[1] if len(args) > 1 else 0)
        if start % x.dim() == 0:
            raise refused("flatten of what a mask selects, with its first dimension,")
        return x.like(func(x.rows, *args[1:], **kwargs))
    if isinstance(x, Selection) and name in ("view", "reshape", "flatten"):
        return _reshaped(x, args[1:] or (-1,))
    if name == "stack" or (name in _JOINS and isinstance(x, list | tuple)):
        at = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        if at % (max(each.dim() for each in x) + (name == "stack")) == 0:
            raise refused(f"{name} of what a mask selects, along its first dimension,")
        return by_rows(func, args, kwargs)
    if isinstance(x, Selection) and name == "split":
        return _split(x, *args[1:], **kwargs)
    if isinstance(x, Selection) and name in _PARTS:
        at = kwargs.get("dim", args[_PARTS[name]] if len(args) > _PARTS[name] else 0)
        if at % x.dim() == 0:
            raise refused(f"{name} of what a mask selects, along its first dimension,")
        return tuple(map(x.like, func(x.rows, *args[1:], **kwargs)))
    if getattr(func, "__module__", "") == "torch.nn.functional" and "reduction" in inspect.signature(func).parameters:
        return _loss(func, name, inspect.signature(func).bind(*args, **kwargs))
    if isinstance(x, Selection) and (name in _NEUTRAL or name in _ALONG):
        dims = _dims(name, x.dim() + (name == "unsqueeze"), args, kwargs)
        if dims == (0,) and x.dim() == 1 and name in _ORDERS:
            return _ordered(name, x, **_ORDERS[name](*args[1:], **kwargs))
        if 0 in dims:
            return _reduced(func, name, x, args[1:], kwargs, len(dims) == x.dim())
        if name == "squeeze":
            return x.like(x.rows.squeeze(dims))
    elif not (
        name in _OF_ROWS
        or _is_pointwise(name)
        or (
            name == "matmul"
            and isinstance(x, Selection)
            and x.dim() > 1
            and isinstance(args[1], Tensor)
            and args[1].dim() < 3
        )
    ):
        raise refused(f"{name} of what a mask selects")
    return by_rows(func, args, kwargs)


def by_rows(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``func``, which computes a row from the same row, of arguments of which some are what a mask selects."""
    leaves, spec = pytree.tree_flatten((tuple(args), kwargs))
    chosen = [each for each in leaves if isinstance(each, Selection)]
    rank = max(each.dim() for each in chosen)
    if _is_pointwise_of(func) and any(
        each.dim() > rank if isinstance(each, Tensor) else isinstance(each, Selection) and each.dim() < rank
        for each in leaves
    ):
        raise refused(f"{getattr(func, '__name__', func)} of what a mask selects, along another dimension,")
    counts = {
        len(each) for each in leaves if isinstance(each, Tensor) and each.dim() == rank and _is_pointwise_of(func)
    } - {1}
    if counts:
        (count,) = counts
        whole = [each.counted(count) if isinstance(each, Selection) else each for each in leaves]
        again, more = pytree.tree_unflatten(whole, spec)
        return func(*again, **more)
    rows, mask, source = together(chosen)
    found = iter(rows)
    again, more = pytree.tree_unflatten([next(found) if isinstance(each, Selection) else each for each in leaves], spec)
    is_packed = mask is chosen[0].mask and chosen[0].is_packed
    return pytree.tree_map(lambda each: type(chosen[0])(each, mask, source, is_packed), func(*again, **more))


def _loss(func: Any, name: str, bound: inspect.BoundArguments) -> Any:
    bound.apply_defaults()
    given = bound.arguments
    target: Any = given.get("target")
    if isinstance(target, Tensor):  # whose number of rows is known
        known = {key: each.counted(len(target)) for key, each in given.items() if isinstance(each, Selection)}
        return func(**{**given, **known})
    chosen = {key: each for key, each in given.items() if isinstance(each, Selection)}
    rows, mask, source = together(list(chosen.values()))
    given.update(zip(chosen, rows, strict=True))
    reduction, made = given["reduction"], type(next(iter(chosen.values())))
    if name in ("cross_entropy", "nll_loss") and not given["target"].is_floating_point():
        given["target"] = Selection(given["target"], mask).where(given["ignore_index"])
        found = func(**given)
        return made(found, mask, source) if reduction == "none" else found
    found: Any = made(func(**{**given, "reduction": "none"}), mask, source)
    if reduction == "batchmean":
        return found.sum() / mask.sum()
    return found if reduction == "none" else getattr(found, reduction)()


def _reduced(func: Any, name: str, x: Any, more: Sequence[Any], kwargs: dict[str, Any], is_whole: bool) -> Any:
    """A reduction whose dimensions have that of the rows."""
    if name in _NEUTRAL:
        return func(x.where(_NEUTRAL[name]), *more, **kwargs)
    if name in ("amax", "amin") or (name in ("max", "min") and not more and not kwargs):
        return func(x.rows, *more, **kwargs)  # the same where rows are there more than once
    if name == "mean":
        whole = x.rows.numel() if is_whole else None
        total = torch.sum(x.where(0), *more, **kwargs)
        per_row = (whole or x.rows.numel()) // max(total.numel() * len(x.mask), 1)
        return total / (x.mask.sum() * per_row)
    if name in ("var", "std") and is_whole:
        unbiased = kwargs.get("unbiased", more[0] if more and isinstance(more[0], bool) else True)
        mean = x.sum() / x.numel()
        found = ((x - mean) ** 2).sum() / (x.numel() - kwargs.get("correction", int(unbiased)))
        return found.sqrt() if name == "std" else found
    if name in ("argmax", "argmin", "max", "min") and x.dtype != torch.bool:
        x = x.packed()
        return func(x.where(_extreme(x.dtype, name.endswith("min"))), *more, **kwargs)
    raise refused(f"{name} of what a mask selects, along its first dimension,")


def _extreme(dtype: torch.dtype, is_largest: bool) -> Any:
    """The number that is sorted behind all others."""
    if dtype.is_floating_point:
        return inf if is_largest else -inf
    info = torch.iinfo(dtype)
    return info.max if is_largest else info.min


def _ordered(name: str, x: Any, descending: bool, count: int | None = None) -> Any:
    """``x``, of rank 1, in order: its first ``count`` elements, and their places; an ``argsort`` has these alone."""
    x = x.packed()
    keys = x.where(_extreme(x.dtype, not descending))
    _, places = torch.sort(keys, stable=True, descending=descending)  # what is not selected is behind its equals
    places, mask = places[:count], x.mask[:count]
    places = x.of(places, mask).rows
    order = type(x)(places, mask, is_packed=True)
    return order if name == "argsort" else (order.like(x.rows[places]), order)


_ORDERS: dict[str, Callable[..., dict[str, Any]]] = {
    "topk": lambda k, dim=-1, largest=True, sorted=True: {"descending": largest, "count": k},
    "sort": lambda dim=-1, descending=False, stable=False: {"descending": descending},
    "argsort": lambda dim=-1, descending=False, stable=False: {"descending": descending},
}
"""By function, how its arguments say an order."""


def is_along(name: str) -> bool:
    """True for functions along dimensions, which keep the others."""
    return (name in _NEUTRAL or name in _ALONG) and name not in ("unsqueeze", "squeeze")


def is_of_rows(name: str) -> bool:
    """True for functions that compute each element from those at the same place."""
    return _is_pointwise(name) or name in _OF_ELEMENTS


def dims_of(name: str, rank: int, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[int, ...], Any]:
    """The dimensions of a function along some, and where they are said: at a place, by a name, or nowhere, None."""
    at = 2 if name in _DIM_IS_THIRD else 1
    named = next((each for each in ("dim", "axis") if each in kwargs), None)
    is_placed = len(args) > at and not isinstance(args[at], bool | Tensor)
    if named is None and not is_placed and name in _DIM:
        kwargs["dim"], named = _DIM[name], "dim"
    return _dims(name, rank, args, kwargs), named or (at if is_placed else None)


def _reshaped(x: Any, shape: Sequence[Any]) -> Any:
    sizes = tuple(shape[0] if isinstance(shape[0], tuple | list) else shape)
    row = x.rows.shape[1:]
    if all(isinstance(each, int) and each >= 0 for each in sizes):
        return x.counted(prod(sizes) // max(row.numel(), 1)).reshape(sizes)
    is_row = all(isinstance(each, int) and each >= 0 for each in sizes[1:]) and prod(sizes[1:]) == row.numel()
    if is_row and (
        isinstance(sizes[0], Tensor) or sizes[0] == -1
    ):  # the tensor is the number of rows, or it does not fit
        return x.like(x.rows.reshape(len(x.mask), *sizes[1:]))
    if sizes[0] == -1 and prod(sizes[1:]) and not row.numel() % prod(sizes[1:]):
        count = row.numel() // prod(sizes[1:])
        return type(x)(x.rows.reshape(-1, *sizes[1:]), x.mask.repeat_interleave(count), ("rows", count, x.source))
    raise refused(f"the shape {list(sizes)} of what a mask selects", "say it in numbers")


def _dims(name: str, rank: int, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[int, ...]:
    at = 2 if name in _DIM_IS_THIRD else 1
    given = kwargs.get("dim", kwargs.get("axis", args[at] if len(args) > at else _DIM.get(name)))
    if given is None or isinstance(given, bool):
        return tuple(range(name == "squeeze", rank))
    return tuple(each % rank for each in (given if isinstance(given, tuple | list) else (given,)))


def _split(x: Any, sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    if dim % x.dim():
        return tuple(map(x.like, x.rows.split(sizes, dim)))
    given = sizes if isinstance(sizes, list | tuple) else ()
    totals = [each.of_rows for each in given if hasattr(each, "of_rows")]
    if totals:
        return parts_of_counts(x.counted(totals[0]), given, type(x))
    parts: list[Any] = [getattr(each, "of_selected", None) for each in given]
    sources = tuple(each.source for each in parts if each is not None)
    if len(sources) == len(parts) == 1 and is_same(x.source, sources[0]):
        return (x,)
    if len(sources) < len(parts) or not parts or not is_same(x.source, ("cat", *sources)):
        raise refused("split of what a mask selects, but into what it was joined of,")
    rows, masks = (each.split([len(part.mask) for part in parts]) for each in (x.rows, x.mask))
    return tuple(starmap(x.filled, zip(rows, masks, sources, (part.is_packed for part in parts), strict=True)))


def parts_of_counts(x: Tensor, counts: Sequence[Any], kind: type[Selection]) -> tuple[Any, ...]:
    """The parts of ``x`` with so many rows each, of which some are numbers of tensors; these keep how many all have."""
    ends = torch.stack([torch.as_tensor(each) for each in counts]).cumsum(0).unbind()
    for each in counts:
        if isinstance(each, Tensor):
            vars(each)["of_rows"] = len(x)
    place = torch.arange(len(x))
    masks = [(place >= begin) & (place < end) for begin, end in zip([0, *ends], ends, strict=False)]
    return tuple(kind.of(x, each) for each in masks)


def _is_pointwise_of(func: Any) -> bool:
    return _is_pointwise(getattr(func, "__name__", "").strip("_"))


@cache
def _is_pointwise(name: str) -> bool:
    name = {"truediv": "div", "rtruediv": "div", "radd": "add", "rsub": "sub", "rmul": "mul"}.get(name, name)
    op = getattr(torch.ops.aten, name, None)
    return op is not None and any(torch.Tag.pointwise in getattr(op, each).tags for each in op.overloads())
