"""Norms over batches in training as a program has them: with statistics of all replicas, and means of all batches."""

from typing import Any

import torch
from torch.nn import functional

from ipu_mlir.frontends.aten.layers import sum_of_replicas

_forward: Any = torch.nn.BatchNorm1d.forward


def cumulative_norm(self: Any, x: torch.Tensor) -> torch.Tensor:
    """``forward`` of norms over batches; with ``momentum=None``, the running means are those of all batches."""
    if self.momentum is not None or not (self.training and self.track_running_stats):
        return _forward(self, x)
    self._check_input_dim(x)
    mean, variance = self.running_mean.clone(), self.running_var.clone()
    found = functional.batch_norm(x, mean, variance, self.weight, self.bias, True, 1.0, self.eps)
    _keep(self, mean, variance)
    return found


def norm_over_replicas(self: Any, x: torch.Tensor) -> torch.Tensor:
    """``forward`` of ``SyncBatchNorm``: in training, with the mean and the variance of the batches of all replicas."""
    if not self.training:
        return _forward(self, x)
    rows = x.float().movedim(1, -1)
    over = list(range(rows.dim() - 1))
    count = rows.numel() // rows.shape[-1]
    total = sum_of_replicas(torch.cat([rows.sum(over), rows.new_full((1,), count)]))
    mean, count = total[:-1] / total[-1], total[-1]
    variance = sum_of_replicas(((rows - mean) ** 2).sum(over)) / count
    if self.track_running_stats:
        _keep(self, mean, variance * (count / (count - 1)))
    found = (rows - mean) * (variance + self.eps).rsqrt()
    found = found if self.weight is None else found * self.weight + self.bias
    return found.movedim(-1, 1).to(x.dtype)


@torch.no_grad()
def _keep(norm: Any, mean: torch.Tensor, variance: torch.Tensor) -> None:
    """Move the running means of ``norm`` by the statistics of a batch."""
    norm.num_batches_tracked.add_(1)
    share = 1.0 / norm.num_batches_tracked.float() if norm.momentum is None else norm.momentum
    norm.running_mean.add_(share * (mean - norm.running_mean))
    norm.running_var.add_(share * (variance - norm.running_var))
