"""What a mask selects of a tensor of PyTorch: a row for every place of the mask, and which of them are selected.

Reductions, losses and assignments of selected rows have shapes that do not depend on how many there are.
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

from ipu_mlir.dialects.support.errors import CompileError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OF_ROWS = _words(
    "linear layer_norm rms_norm embedding one_hot dropout relu6 hardtanh softplus gelu leaky_relu elu selu celu mish "
    "silu hardswish logsigmoid float double half bfloat16 long int bool to type_as clone detach contiguous zeros_like "
    "ones_like full_like masked_fill expand_as invert and or xor mod truediv floordiv radd rsub rmul rtruediv rdiv "
    "rfloordiv rpow rmod rand ror rxor"
)
"""Functions that compute a row from the same row, beside those that PyTorch calls pointwise."""
_ALONG = _words(
    "softmax log_softmax softmin sum mean amax amin argmax argmin max min norm normalize logsumexp cumsum var std all "
    "any prod unsqueeze squeeze topk sort argsort cosine_similarity median"
)
"""Functions along a dimension, which compute a row from the same row where it is not the first."""
_OPERATORS = _words("add sub mul truediv floordiv mod pow matmul and or xor lt le gt ge eq ne neg abs invert")
_DIM_IS_THIRD = frozenset(("norm", "normalize", "topk", "cosine_similarity"))
_DIM = {"normalize": 1, "cosine_similarity": 1, "topk": -1, "sort": -1, "argsort": -1}
_JOINS = ("cat", "concat", "concatenate")
_PLACES = (torch.int64, torch.int32)
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
_KNOWN = frozenset(("dtype", "device", "layout", "requires_grad", "is_sparse", "is_quantized"))
_OTHERS = "keep the shape, torch.where(mask, x, 0), or use torch.compile, which leaves such a line to Python"


class Selected:
    """The rows of ``rows``, ``(n, ...)``, that ``mask``, ``(n,)``, selects; the others are copies of the first of them.

    So nothing is computed of numbers that the program does not have, such as the logarithm of one that is masked.

    Args:
        source: the mask of the program, by which two selections are known to be of the same rows.
        is_packed: whether the rows that are selected are those in front.
    """

    def __init__(self, rows: Tensor, mask: Tensor, source: Any = None, is_packed: bool = False) -> None:
        self.rows, self.mask, self.source = rows, mask, mask if source is None else source
        self.is_packed = is_packed

    @property
    def shape(self) -> tuple[Any, ...]:
        count = self.mask.sum()
        count.of_selected = self
        return count, *self.rows.shape[1:]

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> Any:
        return self.mask.sum() * self.rows.shape[1:].numel()

    def dim(self) -> int:
        return self.rows.dim()

    ndim = property(dim)

    def __len__(self) -> int:
        raise refused("the len() of what a mask selects", "x.shape[0] is a tensor")

    def __iter__(self) -> Any:
        raise refused("a loop over what a mask selects")

    def __bool__(self) -> bool:
        raise refused("what a mask selects, as a condition,")

    def __getitem__(self, index: Any) -> Any:
        return read(self, index if isinstance(index, tuple) else (index,))

    def __setitem__(self, index: Any, value: Any) -> None:
        raise refused("a part of what a mask selects, which is a copy,")

    def __getattr__(self, name: str) -> Any:
        if name in _KNOWN or name.startswith("is_"):
            return getattr(self.rows, name)
        found = getattr(Tensor, name)
        if not callable(found):
            raise refused(f"{name} of what a mask selects")
        return lambda *args, **kwargs: _apply(found, (self, *args), kwargs)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _apply(func, args, kwargs or {})

    def packed(self) -> "Selected":
        """The same with its rows in front."""
        if self.is_packed or not len(self.mask):
            return self
        places = torch.nonzero_static(self.mask, size=len(self.mask), fill_value=0)[:, 0]
        mask = torch.arange(len(self.mask)) < self.mask.sum()
        return Selected(self.rows.index_select(0, places), mask, is_packed=True)

    def like(self, rows: Any) -> Any:
        """Other rows of the same selection."""
        return Selected(rows, self.mask, self.source, self.is_packed)

    def counted(self, count: int) -> Tensor:
        """The rows, of which the program says that there are ``count``."""
        if count > len(self.mask):
            raise CompileError(f"a mask of {len(self.mask)} elements does not select {count}")
        return self.packed().rows[:count]

    def where(self, neutral: Any) -> Tensor:
        """All rows, ``neutral`` in the place of those that are not selected."""
        return torch.where(_beside(self.mask, self.rows), self.rows, neutral)


def _operators() -> None:
    for name in _OPERATORS:
        for dunder in (f"__{name}__", f"__r{name}__"):
            of = getattr(Tensor, dunder, None)
            if of is not None:
                setattr(Selected, dunder, lambda self, *other, of=of: _apply(of, (self, *other), {}))


_operators()


def select(x: Tensor, mask: Tensor) -> Selected:
    """``x[mask]``."""
    rows, flat = x.reshape(mask.numel(), *x.shape[mask.dim() :]), mask.reshape(-1)
    if not len(rows):
        return Selected(rows, flat, mask)
    first = rows.detach().index_select(0, flat.to(torch.int32).argmax().reshape(1))
    neutral = torch.ones_like(first) if x.is_floating_point() or x.is_complex() else torch.zeros_like(first)
    return Selected(torch.where(_beside(flat, rows), rows, torch.where(flat.any(), first, neutral)), flat, mask)


def filled(rows: Tensor, mask: Tensor, source: Any = None, is_packed: bool = False) -> Selected:
    """``rows`` that ``mask``, ``(n,)``, selects, with copies of the first of them in the place of the others."""
    return Selected(select(rows, mask).rows, mask, source, is_packed)


def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of what is not zero, as PyTorch gives them."""
    if isinstance(x, Selected):
        x = x.packed().where(0)
    if not x.numel():
        empty = torch.zeros(0, x.dim(), dtype=torch.int64)
        return empty.unbind(1) if as_tuple else empty
    x = x.reshape(1) if as_tuple and not x.dim() else x
    mask = x if x.dtype == torch.bool else x != 0
    if not x.dim():
        return Selected(torch.zeros(1, 0, dtype=torch.int64), mask.reshape(1), mask)
    found = [select(each, mask) for each in torch.meshgrid(*map(torch.arange, x.shape), indexing="ij")]
    return tuple(found) if as_tuple else Selected(torch.stack([each.rows for each in found], 1), found[0].mask, mask)


def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements that are not equal, in order, as ``torch.unique`` gives them."""
    if dim is not None or not _is_traced(input):
        return _of_values(torch.unique, input, sorted, return_inverse, return_counts, dim)
    values, order = torch.sort(input.reshape(-1), stable=True)
    found = unique_consecutive(values, return_inverse, return_counts)
    if return_inverse:
        inverse = torch.zeros_like(order).scatter(0, order, found[1]).reshape(input.shape)
        found = (found[0], inverse, *found[2:])
    return found


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements that differ from those before them, as ``torch.unique_consecutive`` gives them."""
    if dim is not None or not _is_traced(input):
        return _of_values(torch.unique_consecutive, input, return_inverse, return_counts, dim)
    flat = input.reshape(-1)
    is_new = torch.cat([torch.ones_like(flat[:1], dtype=torch.bool), flat[1:] != flat[:-1]])
    values, number = select(flat, is_new).packed(), is_new.cumsum(0) - 1
    results = [values, *([number.reshape(input.shape)] if return_inverse else [])]
    if return_counts:
        counts = torch.zeros_like(number).index_add(0, number, torch.ones_like(number))
        results.append(filled(counts, values.mask, values.source, values.is_packed))
    return tuple(results) if len(results) > 1 else values


def masked_select(x: Tensor, mask: Tensor) -> Any:
    """The elements that ``mask`` selects, in a row."""
    wide = torch.broadcast_shapes(x.shape, mask.shape)
    return read(x.expand(wide), (mask if mask.shape == wide else mask.expand(wide),))


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number below ``minlength`` is there; there are as many as values say where it is not given."""
    if not minlength and _is_traced(x):
        raise refused("the result of bincount", "give minlength, the number of counts, and let all numbers be below it")
    if not minlength:
        return torch.bincount(x, weights)
    ones = torch.ones_like(x, dtype=torch.int64)
    counted = ones if weights is None else weights if weights.dtype == torch.float32 else weights.double()
    return counted.new_zeros(minlength).index_add(0, x, counted)


def read(x: Any, entries: Sequence[Any]) -> Any:
    """``x[entries]`` if a mask is the first of them, or something is selected; ``NotImplemented`` else."""
    first, rest = entries[0], tuple(entries[1:])
    if isinstance(x, Selected):
        if isinstance(first, Selected) and first.dtype == torch.bool:
            (rows, chosen), mask, _ = _together([x, first])
            return Selected(select(rows, mask & chosen).rows, mask & chosen)
        if isinstance(first, Selected) and not any(isinstance(each, Tensor | Selected) for each in rest):
            return first.like(x.packed().rows[(first.rows, *rest)])
        kept = x.dim() > sum(each is not None for each in rest) if first is ... else first == slice(None)
        if kept and not any(isinstance(each, Tensor) for each in entries):
            return x.like(x.rows[tuple(entries)])
        if isinstance(first, int) and first >= 0:
            return x.packed().rows[tuple(entries)]
        if (
            isinstance(first, slice)
            and first.step is None
            and all((each or 0) >= 0 for each in (first.start, first.stop))
        ):
            x = x.packed()
            return filled(x.rows[tuple(entries)], x.mask[first], is_packed=True)
        if isinstance(first, Tensor) and first.dtype in _PLACES and not rest:
            place: Any = first
            return x.packed().rows[torch.where(place < 0, place + x.mask.sum(), place)]
        raise refused("such a part of what a mask selects")
    if isinstance(first, Selected):
        return _by_rows(lambda *key: x[key], entries, {})
    if any(isinstance(each, Selected) for each in entries) and not _is_mask(first):
        raise refused("what a mask selects of a dimension that is not the first")
    if not _is_mask(first):
        return NotImplemented
    if not _is_traced(first):
        return x[(*first.nonzero(as_tuple=True), *rest)]
    if any(isinstance(each, Tensor | Selected) for each in rest):
        return read(x, (*nonzero(first, as_tuple=True), *rest))
    found = select(x, first)
    return Selected(found.rows[(slice(None), *rest)], found.mask, first) if rest else found


def write(x: Tensor, entries: Sequence[Any], value: Any) -> Any:
    """``x[entries] = value`` if a mask is the first of them, or something is selected; ``NotImplemented`` else."""
    first = entries[0]
    if isinstance(first, Selected):
        keys = [each for each in (*entries, value) if isinstance(each, Selected)]
        rows, mask, _ = _together(keys)
        found = iter(rows)
        place, *others = [next(found) if isinstance(each, Selected) else each for each in entries]
        longer = torch.cat([x, x[:1]])  # its last row takes what is not selected
        longer[(torch.where(mask, place, len(x)), *others)] = next(found, value)
        x.copy_(longer[:-1])
    elif _is_mask(first) and len(entries) == 1 and isinstance(value, Selected) and value.source is first:
        x.copy_(torch.where(_beside(first, x), value.rows.reshape(x.shape).to(x.dtype), x))
    elif _is_mask(first) and len(entries) == 1 and _is_row_each(x, first, value):
        rows = value.packed().rows if isinstance(value, Selected) else value
        x.masked_scatter_(_beside(first, x).expand(x.shape), rows.to(x.dtype))
    elif any(isinstance(each, Selected) for each in (*entries, value)):
        raise refused("such an assignment of what a mask selects")
    else:
        return NotImplemented
    return None


def _is_row_each(x: Tensor, mask: Tensor, value: Any) -> bool:
    """True if ``value`` has a row for each that ``mask`` selects of ``x``, not one for all."""
    if isinstance(value, Selected):
        return value.dim() == x.dim() - mask.dim() + 1
    return isinstance(value, Tensor) and value.dim() == x.dim() - mask.dim() + 1 and len(value) != 1


def _apply(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``func`` of arguments of which some are what a mask selects."""
    name = getattr(func, "__name__", str(func))
    if name.endswith("_") and not name.endswith("__") and isinstance(args[0], Selected):
        result = _apply(getattr(Tensor, name[:-1]), args, kwargs)
        args[0].rows, args[0].mask, args[0].source = result.rows, result.mask, result.source
        return args[0]
    name = name.strip("_")
    if name in _JOINS and (args[1] if len(args) > 1 else kwargs.get("dim", 0)) == 0:
        parts = [each if isinstance(each, Selected) else Selected(each, torch.ones(len(each)) > 0) for each in args[0]]
        if len(parts) == 1:
            return parts[0]
        source = ("cat", *(each.source for each in parts))
        return filled(torch.cat([each.rows for each in parts]), torch.cat([each.mask for each in parts]), source)
    if name in ("index_add", "index_add_") and not isinstance(args[0], Selected) and args[1] == 0:
        (place, source), mask, _ = _together([args[2], args[3]])
        return func(args[0], 0, place, Selected(source, mask).where(0), **kwargs)
    x = args[0]
    if isinstance(x, Selected) and name == "flatten" and (args[1:] or kwargs):
        start = kwargs.get("start_dim", args[1] if len(args) > 1 else 0)
        if start % x.dim() == 0:
            raise refused("flatten of what a mask selects, with its first dimension,")
        return x.like(func(x.rows, *args[1:], **kwargs))
    if isinstance(x, Selected) and name in ("view", "reshape", "flatten"):
        return _reshaped(x, args[1:] or (-1,))
    if name == "stack" or (name in _JOINS and isinstance(x, list | tuple)):
        at = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        if at % (max(each.dim() for each in x) + (name == "stack")) == 0:
            raise refused(f"{name} of what a mask selects, along its first dimension,")
        return _by_rows(func, args, kwargs)
    if isinstance(x, Selected) and name == "split":
        return _split(x, *args[1:], **kwargs)
    if isinstance(x, Selected) and name == "unbind":
        at = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        if at % x.dim() == 0:
            raise refused("unbind of what a mask selects, along its first dimension,")
        return tuple(x.like(each) for each in x.rows.unbind(at))
    if getattr(func, "__module__", "") == "torch.nn.functional" and "reduction" in inspect.signature(func).parameters:
        return _loss(func, name, inspect.signature(func).bind(*args, **kwargs))
    if isinstance(x, Selected) and (name in _NEUTRAL or name in _ALONG):
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
            and isinstance(x, Selected)
            and x.dim() > 1
            and isinstance(args[1], Tensor)
            and args[1].dim() < 3
        )
    ):
        raise refused(f"{name} of what a mask selects")
    return _by_rows(func, args, kwargs)


def _by_rows(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``func``, which computes a row from the same row, of arguments of which some are what a mask selects."""
    leaves, spec = pytree.tree_flatten((tuple(args), kwargs))
    chosen = [each for each in leaves if isinstance(each, Selected)]
    rank = max(each.dim() for each in chosen)
    if _is_pointwise_of(func) and any(
        each.dim() > rank if isinstance(each, Tensor) else isinstance(each, Selected) and each.dim() < rank
        for each in leaves
    ):
        raise refused(f"{getattr(func, '__name__', func)} of what a mask selects, along another dimension,")
    counts = {
        len(each) for each in leaves if isinstance(each, Tensor) and each.dim() == rank and _is_pointwise_of(func)
    } - {1}
    if counts:
        (count,) = counts
        whole = [each.counted(count) if isinstance(each, Selected) else each for each in leaves]
        again, more = pytree.tree_unflatten(whole, spec)
        return func(*again, **more)
    rows, mask, source = _together(chosen)
    found = iter(rows)
    again, more = pytree.tree_unflatten([next(found) if isinstance(each, Selected) else each for each in leaves], spec)
    is_packed = mask is chosen[0].mask and chosen[0].is_packed
    return pytree.tree_map(lambda each: Selected(each, mask, source, is_packed), func(*again, **more))


def _together(chosen: Sequence[Any]) -> tuple[list[Tensor], Tensor, Any]:
    """The rows of several, side by side, and their mask: those of other masks have as many by the program."""
    if not all(_is_same(each.source, chosen[0].source) and each.is_packed is chosen[0].is_packed for each in chosen):
        chosen = [each.packed() for each in chosen]
        size = min(len(each.mask) for each in chosen)
        return [each.rows[:size] for each in chosen], chosen[0].mask[:size], None
    return [each.rows for each in chosen], chosen[0].mask, chosen[0].source


def _loss(func: Any, name: str, bound: inspect.BoundArguments) -> Any:
    bound.apply_defaults()
    given = bound.arguments
    target: Any = given.get("target")
    if isinstance(target, Tensor):  # whose number of rows is known
        known = {key: each.counted(len(target)) for key, each in given.items() if isinstance(each, Selected)}
        return func(**{**given, **known})
    chosen = {key: each for key, each in given.items() if isinstance(each, Selected)}
    rows, mask, source = _together(list(chosen.values()))
    given.update(zip(chosen, rows, strict=True))
    reduction = given["reduction"]
    if name in ("cross_entropy", "nll_loss") and not given["target"].is_floating_point():
        given["target"] = Selected(given["target"], mask).where(given["ignore_index"])
        found = func(**given)
        return Selected(found, mask, source) if reduction == "none" else found
    found = Selected(func(**{**given, "reduction": "none"}), mask, source)
    if reduction == "batchmean":
        return found.sum() / mask.sum()
    return found if reduction == "none" else getattr(found, reduction)()


def _reduced(func: Any, name: str, x: Selected, more: Sequence[Any], kwargs: dict[str, Any], is_whole: bool) -> Any:
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


def _ordered(name: str, x: Selected, descending: bool, count: int | None = None) -> Any:
    """``x``, of rank 1, in order: its first ``count`` elements, and their places; an ``argsort`` has these alone."""
    x = x.packed()
    keys = x.where(_extreme(x.dtype, not descending))
    _, places = torch.sort(keys, stable=True, descending=descending)  # what is not selected is behind its equals
    places, mask = places[:count], x.mask[:count]
    places = select(places, mask).rows
    order = Selected(places, mask, is_packed=True)
    return order if name == "argsort" else (order.like(x.rows[places]), order)


_ORDERS: dict[str, Callable[..., dict[str, Any]]] = {
    "topk": lambda k, dim=-1, largest=True, sorted=True: {"descending": largest, "count": k},
    "sort": lambda dim=-1, descending=False, stable=False: {"descending": descending},
    "argsort": lambda dim=-1, descending=False, stable=False: {"descending": descending},
}
"""By function, how its arguments say an order."""


def _reshaped(x: Selected, shape: Sequence[Any]) -> Any:
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
        return Selected(x.rows.reshape(-1, *sizes[1:]), x.mask.repeat_interleave(count), ("rows", count, x.source))
    raise refused(f"the shape {list(sizes)} of what a mask selects", "say it in numbers")


def _dims(name: str, rank: int, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[int, ...]:
    at = 2 if name in _DIM_IS_THIRD else 1
    given = kwargs.get("dim", kwargs.get("axis", args[at] if len(args) > at else _DIM.get(name)))
    if given is None or isinstance(given, bool):
        return tuple(range(name == "squeeze", rank))
    return tuple(each % rank for each in (given if isinstance(given, tuple | list) else (given,)))


def _split(x: Selected, sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    if dim % x.dim():
        return tuple(map(x.like, x.rows.split(sizes, dim)))
    given = sizes if isinstance(sizes, list | tuple) else ()
    parts: list[Any] = [getattr(each, "of_selected", None) for each in given]
    sources = tuple(each.source for each in parts if each is not None)
    if len(sources) == len(parts) == 1 and _is_same(x.source, sources[0]):
        return (x,)
    if len(sources) < len(parts) or not parts or not _is_same(x.source, ("cat", *sources)):
        raise refused("split of what a mask selects, but into what it was joined of,")
    rows, masks = (each.split([len(part.mask) for part in parts]) for each in (x.rows, x.mask))
    return tuple(starmap(filled, zip(rows, masks, sources, (part.is_packed for part in parts), strict=True)))


def _is_same(one: Any, other: Any) -> bool:
    """True if two sources are one mask, or are made of the same masks in the same way."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return one is other or (isinstance(one, str | int) and one == other)


def _beside(mask: Tensor, x: Tensor) -> Tensor:
    """A mask of the first dimensions of ``x``, for its elements."""
    return mask.reshape(*mask.shape, *[1] * (x.dim() - mask.dim()))


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, Tensor) and entry.dtype == torch.bool and entry.dim() > 0


def refused(what: str, more: str = _OTHERS) -> CompileError:
    """The error of what has no size that is known."""
    return CompileError(f"{what} would be as large as values say; {more}")


def _is_pointwise_of(func: Any) -> bool:
    return _is_pointwise(getattr(func, "__name__", "").strip("_"))


@cache
def _is_pointwise(name: str) -> bool:
    name = {"truediv": "div", "rtruediv": "div", "radd": "add", "rsub": "sub", "rmul": "mul"}.get(name, name)
    op = getattr(torch.ops.aten, name, None)
    return op is not None and any(torch.Tag.pointwise in getattr(op, each).tags for each in op.overloads())


def _of_values(func: Callable[..., Any], x: Tensor, *more: Any) -> Any:
    """``func``, whose result is as large as values say, of a tensor whose values are known."""
    if _is_traced(x):
        raise refused(f"the result of {getattr(func, '__name__', func)}")
    return func(x, *more)


def _is_traced(x: Tensor) -> bool:
    """False for a tensor whose values are known, one that the program has made of none of its arguments."""
    from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot

    mode = get_proxy_mode()
    if mode is None or type(x) is not Tensor or torch._C._functorch.is_functorch_wrapped_tensor(x):
        return True
    return get_proxy_slot(x, mode.tracer, None) is not None
