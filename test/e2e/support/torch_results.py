"""Programs of PyTorch, compared with PyTorch itself."""

from typing import Any

import pytest
import torch

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=16)


def assert_same(found, expected, atol: float = 1e-5) -> None:
    ones, spec = torch.utils._pytree.tree_flatten(found)
    others, expected_spec = torch.utils._pytree.tree_flatten(expected)
    assert spec == expected_spec
    for one, other in zip(ones, others, strict=True):
        torch.testing.assert_close(one, other, atol=atol, rtol=1e-4)


def check(source, *args, atol: float = 1e-5, **kwargs) -> None:
    exe = ipu.compile(source, args=args, kwargs=kwargs, target=TARGET)
    with torch.no_grad():
        assert_same(exe(*args, **kwargs), source(*args, **kwargs), atol)


def torchvision_with_its_ops() -> Any:
    """The package torchvision; skips a test where it is missing, or its library does not fit PyTorch."""
    try:
        import torchvision
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"torchvision cannot be imported: {error}")
    if not torchvision.extension._has_ops():
        pytest.skip("the library of torchvision cannot be loaded")
    return torchvision
