"""The loss of label sequences (CTC) and its gradient, by the codelet of both."""

from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_impls import register_op_impl

from ipu_mlir.frontends.aten.rules import Made, constant, rule
from ipu_mlir.tracing.codelets import apply_codelet
from ipu_mlir.tracing.graph import Symbol

_LOSSES = (torch.ops.aten._ctc_loss.default, torch.ops.aten._ctc_loss.Tensor)
_GRADIENTS = (torch.ops.aten._ctc_loss_backward.default, torch.ops.aten._ctc_loss_backward.Tensor)


@register_op_impl(_LOSSES)
def _shapes(mode: Any, op: Any, x: torch.Tensor, targets: torch.Tensor, *_: Any, **__: Any) -> Any:
    """PyTorch itself does not say shapes before it knows the lengths."""
    return x.new_empty(x.shape[1]), x.new_empty(x.shape[1], x.shape[0], 2 * targets.shape[-1] + 1)


@register_op_impl(_GRADIENTS)
def _shape_of_gradient(mode: Any, op: Any, gradient: torch.Tensor, x: torch.Tensor, *_: Any, **__: Any) -> Any:
    return torch.empty_like(x)


def _lengths(given: Any) -> Any:
    return given.astype(np.int32) if isinstance(given, Symbol) else constant(given, np.int32)


def _labels(targets: Any, counts: Any) -> Any:
    """A row of labels for each sequence; they may be given one behind the other."""
    if len(targets.shape) == 2:
        return targets.astype(np.int32)
    first = (np.cumsum(counts) - counts)[:, None]
    most = targets.shape[0]
    return np.take(targets.astype(np.int32), np.minimum(first + constant(np.arange(most), np.int32), most - 1))


def _both(x: Any, targets: Any, times: Any, counts: Any, blank: int) -> tuple[Any, Any]:
    """Losses, and their gradients by the logarithms ``x`` of probabilities, of time, sequence and class."""
    counts, rows = _lengths(counts), np.swapaxes(x, 0, 1)
    given = rows, _labels(targets, counts), counts, _lengths(times), constant(np.full(x.shape[1], blank, np.int32))
    losses, gradients = apply_codelet("ctc_loss", "ctc_loss_gradient", *given, types=[x.dtype, x.dtype])
    return losses, np.swapaxes(gradients, 0, 1)


@rule("_ctc_loss.default", "_ctc_loss.Tensor")
def _losses(
    x: Any, targets: Any, times: Any, counts: Any, blank: int = 0, zero_infinity: bool = False, *, made: Made
) -> tuple[Any, Any]:
    """The second result, of which PyTorch makes the gradient, is left open: ours does not need it."""
    return _both(x, targets, times, counts, blank)[0], constant(np.full(*made.every[1][:1], np.nan, x.dtype))


@rule("_ctc_loss_backward.default", "_ctc_loss_backward.Tensor")
def _losses_backward(
    gradient: Any, x: Any, targets: Any, times: Any, counts: Any, losses: Any, open_one: Any, blank: int,
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """PyTorch's gradient adds the probabilities, which leaves nothing of a sum over classes."""
    slopes = _both(x, targets, times, counts, blank)[1]
    is_there = constant(np.arange(x.shape[0]))[:, None] < _lengths(times)[None, :]
    found = np.where(is_there[..., None], (slopes + np.exp(x)) * gradient[:, None], 0.0)
    return np.where(np.isinf(losses)[:, None], 0.0, found) if zero_infinity else found
