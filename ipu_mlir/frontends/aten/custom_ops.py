"""Ops that programs and libraries define (``torch.library.custom_op``, torchvision), and least squares, as the ops they
are made of.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch._library.custom_ops import OPDEFS
from torch._subclasses.fake_impls import register_op_impl
from torch._subclasses.functional_tensor import dispatch_functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from ipu_mlir.frontends.aten.rules import rule
from ipu_mlir.frontends.aten.sequences import SPACE
from ipu_mlir.frontends.support.selecting import kept


def decompositions() -> Mapping[Any, Callable[..., Any]]:
    """By op, what each does; of those of programs each that writes to none of its arguments."""
    own = [each for each in OPDEFS.values() if not each._opoverload._schema.is_mutable]
    found: dict[Any, Callable[..., Any]] = {each._opoverload: partial(_written_out, each._init_fn) for each in own}
    found[torch.ops.aten.linalg_lstsq.default] = _least_squares
    if "torchvision.ops" in sys.modules:
        of_torchvision = {"roi_align": _aligned_regions, "deform_conv2d": _deformed_convolution}
        for name, function in of_torchvision.items():
            if hasattr(torch.ops.torchvision, name):  # not where its library is for another device than PyTorch's
                found[getattr(torch.ops.torchvision, name).default] = function
    return found


def _written_out(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What ``function`` gives, without its writes to what it made; ``NotImplemented``, where it asks for values."""
    leaves, spec = pytree.tree_flatten((args, options))

    def whole(*leaves: Any) -> Any:
        positional, named = pytree.tree_unflatten(leaves, spec)
        return function(*positional, **named)

    try:
        with _disable_current_modes():
            like = pytree.tree_map_only(
                torch.Tensor, lambda x: torch.empty_strided(x.shape, x.stride(), dtype=x.dtype), leaves
            )
            graph = make_fx(dispatch_functionalize(whole), tracing_mode="fake")(*like)
        return graph(*leaves)
    except Exception:  # of any kind: what the function does is its author's
        return NotImplemented


def _aligned_regions(x: Any, boxes: Any, scale: float, rows: int, columns: int, samples: int, is_aligned: bool) -> Any:
    """Means of elements between those of regions; not where sizes of regions say how many are taken."""
    if samples <= 0:
        return NotImplemented
    left, top, right, bottom = (boxes[:, 1:] * scale - (0.5 if is_aligned else 0.0)).unbind(1)

    def shares(first: Any, last: Any, count: int, size: int) -> Any:
        extent = last - first if is_aligned else (last - first).clamp(min=1.0)
        at = first[:, None] + extent[:, None] / count * ((torch.arange(count * samples) + 0.5) / samples)
        near = (1 - (at.clamp(0, size - 1)[..., None] - torch.arange(size)).abs()).clamp(min=0)
        near = torch.where(((at >= -1) & (at <= size))[..., None], near, 0.0)
        return near.reshape(-1, count, samples, size).mean(2)

    down, aside = shares(top, bottom, rows, x.shape[2]), shares(left, right, columns, x.shape[3])
    return down[:, None] @ (x if len(x) == 1 else x[boxes[:, 0].to(torch.int64)]) @ aside[:, None].mT


def _deformed_convolution(x: Any, weight: Any, offset: Any, mask: Any, bias: Any, *settings: int) -> Any:
    """A convolution of elements at places that are off their grid, by ``offset`` (N, 2 G kh kw, rows, columns)."""
    row_step, column_step, top, left, row_gap, column_gap, groups, parts, has_mask = settings
    (count, channels, height, width), (made, _, kh, kw), (rows, columns) = x.shape, weight.shape, offset.shape[2:]
    offset = offset.reshape(count * parts, kh, kw, 2, rows, columns)
    row = torch.arange(rows) * row_step - top + torch.arange(kh)[:, None] * row_gap
    column = torch.arange(columns) * column_step - left + torch.arange(kw)[:, None] * column_gap
    at_row = (offset[:, :, :, 0] + row[:, None, :, None]).reshape(count * parts, -1, columns)
    at_column = (offset[:, :, :, 1] + column[None, :, None, :]).reshape(count * parts, -1, columns)
    grid = torch.stack([(2 * at_column + 1) / width - 1, (2 * at_row + 1) / height - 1], -1)
    taken = functional.grid_sample(x.reshape(count * parts, -1, height, width), grid, align_corners=False)
    taken = taken.reshape(count, parts, channels // parts, kh * kw, rows, columns)
    if has_mask:
        taken = taken * mask.reshape(count, parts, 1, kh * kw, rows, columns)
    taken = taken.reshape(count, groups, channels // groups * kh * kw, rows * columns)
    found = (weight.reshape(groups, made // groups, -1) @ taken).reshape(count, made, rows, columns)
    return found + bias.reshape(-1, 1, 1)


def _least_squares(
    a: torch.Tensor, b: torch.Tensor, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Any, ...]:
    """The solution by the pseudo-inverse, and of the rest what a driver gives; PyTorch does not say the shapes."""
    driver, rows, columns = driver or "gelsy", a.shape[-2], a.shape[-1]
    right = b.unsqueeze(-1) if b.ndim == a.ndim - 1 else b
    found = torch.linalg.pinv(a, rtol=rcond) @ right
    has_residuals = rows > columns and driver != "gelsy"
    residuals = (a @ found - right).abs().square().sum(-2) if has_residuals else a.new_zeros(0)
    has_rank, has_values = driver != "gels", driver in ("gelsd", "gelss")
    rank = torch.linalg.matrix_rank(a, rtol=rcond) if has_rank else a.new_zeros(0, dtype=torch.int64)
    values = torch.linalg.svdvals(a) if has_values else a.new_zeros(0)
    return found.squeeze(-1) if right is not b else found, residuals, rank, values


@register_op_impl(torch.ops.aten.linalg_lstsq.default)
def _shapes_of_solution(mode: Any, op: Any, *args: Any, **options: Any) -> tuple[Any, ...]:
    with mode:
        return _least_squares(*args, **options)


@torch.library.custom_op(f"{SPACE}::kept_boxes", mutates_args=())
def kept_boxes(boxes: torch.Tensor, groups: torch.Tensor, is_there: torch.Tensor, threshold: float) -> torch.Tensor:
    """``kept`` of ``frontends/support/selecting.py``, on PyTorch's tensors."""
    raise NotImplementedError("it is traced only")


@torch.library.register_fake(f"{SPACE}::kept_boxes")
def _shape(boxes: torch.Tensor, groups: torch.Tensor, is_there: torch.Tensor, threshold: float) -> torch.Tensor:
    return torch.empty_like(is_there)


@rule(f"{SPACE}.kept_boxes.default")
def _kept(boxes: Any, groups: Any, is_there: Any, threshold: float) -> Any:
    return kept(boxes, groups, is_there, threshold)


@torch.library.custom_op(f"{SPACE}::counts", mutates_args=())
def counts(numbers: torch.Tensor, weights: torch.Tensor | None, size: int) -> torch.Tensor:
    """``torch.bincount`` of numbers below ``size``; one that is not fails the run."""
    raise NotImplementedError("it is traced only")


@torch.library.register_fake(f"{SPACE}::counts")
def _shape_of_counts(numbers: torch.Tensor, weights: torch.Tensor | None, size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int64 if weights is None else weights.dtype)


@rule(f"{SPACE}.counts.default")
def _counts(numbers: Any, weights: Any, size: int) -> Any:
    return np.bincount(numbers, weights, size)
