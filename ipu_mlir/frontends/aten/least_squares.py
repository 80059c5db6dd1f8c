"""``torch.linalg.lstsq`` as other ops of PyTorch, because PyTorch does not say the shapes of its results."""

from typing import Any

import torch
from torch._subclasses.fake_impls import register_op_impl


def least_squares(
    a: torch.Tensor, b: torch.Tensor, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Any, ...]:
    """The solution by the pseudo-inverse, and of the rest what a driver gives."""
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
def _shapes(mode: Any, op: Any, *args: Any, **options: Any) -> tuple[Any, ...]:
    with mode:
        return least_squares(*args, **options)
