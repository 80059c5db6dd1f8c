"""Codelets of users in functions of PyTorch: an op of ours, which names the codelet."""

from collections.abc import Sequence
from typing import Any

import torch

from ipu_mlir.frontends.aten.rules import rule, to_numpy, to_numpy_dtype, to_torch_dtype
from ipu_mlir.frontends.aten.sequences import SPACE
from ipu_mlir.tracing.codelets import apply_codelet

_NAMED: dict[str, Any] = {}
"""Those that were called, by name."""


def call(codelet: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The results of ``codelet``, which PyTorch computes on the host where nobody compiles."""
    _NAMED[codelet.name] = codelet
    return tuple(_op(list(operands), codelet.name))


def _compute(given: Sequence[torch.Tensor], name: str) -> list[torch.Tensor]:
    return [torch.from_numpy(each) for each in _NAMED[name].on_host(*(to_numpy(each, each.dtype) for each in given))]


def _shapes(given: Sequence[torch.Tensor], name: str) -> list[torch.Tensor]:
    results = _NAMED[name].results([each.shape for each in given], to_numpy_dtype(given[0].dtype))
    return [given[0].new_empty(shape, dtype=to_torch_dtype(dtype)) for shape, dtype in results]


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    given, ctx.name = inputs
    ctx.number = len(given)
    ctx.save_for_backward(*given, *output)


def _backward(ctx: Any, slopes: Sequence[Any]) -> Any:
    given, found = ctx.saved_tensors[: ctx.number], ctx.saved_tensors[ctx.number :]
    return _NAMED[ctx.name].cotangents(given, found, slopes), None


_op: Any = torch.library.custom_op(f"{SPACE}::codelet", _compute, mutates_args=())
_op.register_fake(_shapes)
_op.register_autograd(_backward, setup_context=_keep)


@rule(f"{SPACE}.codelet.default")
def _codelet(given: Sequence[Any], name: str) -> list[Any]:
    codelet = _NAMED[name]
    types = [dtype for _, dtype in codelet.results([each.shape for each in given], given[0].dtype)]
    return list(apply_codelet(codelet.__name__, name, *given, types=types))
