"""Fourier transforms."""

from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import Made, rule


def _scaled(x: Any, sizes: Any, norm: int) -> Any:
    """Norms are 0 for none, 1 by the root of the number of elements, 2 by the number."""
    count = int(np.prod(sizes))
    return x if norm == 0 else x / (count**0.5 if norm == 1 else float(count))


@rule("_fft_c2c.default")
def _complex(x: Any, dims: Any, norm: int, forward: bool) -> Any:
    sizes = [x.shape[dim] for dim in dims]
    found = np.fft.fftn(x, axes=tuple(dims)) if forward else np.fft.ifftn(x, axes=tuple(dims), norm="forward")
    return _scaled(found, sizes, norm)


@rule("_fft_r2c.default")
def _of_reals(x: Any, dims: Any, norm: int, onesided: bool) -> Any:
    sizes = [x.shape[dim] for dim in dims]
    found = np.fft.rfftn(x, axes=tuple(dims)) if onesided else np.fft.fftn(x, axes=tuple(dims))
    return _scaled(found, sizes, norm)


@rule("_fft_c2r.default")
def _to_reals(x: Any, dims: Any, norm: int, last: int, *, made: Made) -> Any:
    sizes = [made.shape[dim] for dim in dims]
    return _scaled(np.fft.irfftn(x, s=sizes, axes=tuple(dims), norm="forward"), sizes, norm)
