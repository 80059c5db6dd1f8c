"""Ops of PyTorch by rules of ours, against PyTorch itself."""

import torch

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)


def check(function, *args, tolerance: float = 2e-6):
    """As PyTorch, types and shapes included; ``tolerance`` is of the largest element."""
    ours, theirs = ipu.compile(function, args=list(args), target=TARGET)(*args), function(*args)
    pairs = zip(*((each if isinstance(each, tuple) else (each,)) for each in (ours, theirs)), strict=True)
    for place, (one, other) in enumerate(pairs):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), place
        torch.testing.assert_close(
            one,
            other,
            rtol=tolerance,
            atol=tolerance * float(other.abs().max()) if other.numel() else 0,
            msg=f"{place}",
        ) if other.dtype.is_floating_point or other.dtype.is_complex else None
        assert other.dtype.is_floating_point or other.dtype.is_complex or torch.equal(one, other), place


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def slopes(function):
    """The gradient of a weighted sum of what ``function`` of a tensor gives."""

    def run(x):
        x = x.detach().requires_grad_()
        result = function(x)
        return torch.autograd.grad(result, x, torch.arange(result.numel()).cos().reshape(result.shape))[0]

    return run
