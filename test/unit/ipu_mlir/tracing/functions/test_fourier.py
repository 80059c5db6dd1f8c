"""``np.fft`` on traced tensors, on both executors."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(6)
BEST: Any = "best"


def _pair(size):
    x = RNG.uniform(-1, 1, (2, size)).astype(np.float32)
    return x, (x + 1j * x[::-1]).astype(np.complex64)


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_transforms(both_agree, size):
    def program(x, c):
        return {
            "fft": np.fft.fft(c),
            "of reals": np.fft.fft(x),
            "ifft": np.fft.ifft(c),
            "rfft": np.fft.rfft(x),
            "irfft": np.fft.irfft(c, np.array(size)),
            "hfft": np.fft.hfft(c, size),
            "ihfft": np.fft.ihfft(x),
            "fftn": np.fft.fftn(c),
            "ifftn": np.fft.ifftn(c, axes=(0,)),
            "rfftn": np.fft.rfftn(x),
            "irfftn": np.fft.irfftn(c, s=(2, size), axes=(0, 1)),
            "fft2": np.fft.fft2(x),
            "padded": np.fft.fft(x, size + 3),
            "cut": np.fft.fft(x, max(1, size - 2)),
            "axis": np.fft.fft(c, axis=0),
            "ortho": np.fft.fft(c, norm="ortho"),
            "forward": np.fft.ifft(c, norm="forward"),
            "hfft ortho": np.fft.hfft(c, size, norm="ortho"),
            "ihfft forward": np.fft.ihfft(x, norm="forward"),
            "shift": np.fft.fftshift(x),
            "ishift": np.fft.ifftshift(x, axes=1),
        }

    both_agree(program, *_pair(size), tolerance=1e-5)


@pytest.mark.parametrize("size", [67, 5000, 4099])
def test_large_sizes(size):
    """On small tiles: a prime that one vertex transforms, a long row with many divisors, and one that has none."""
    x, c = _pair(size)
    target = ipu.Target(tiles_per_ipu=64, bytes_per_tile=131_072)
    found = ipu.function(lambda x, c: (np.fft.fft(c), np.fft.irfft(np.fft.rfft(x), size)), target=target)(x, c)
    scale = np.sqrt(size)
    np.testing.assert_allclose(found[0] / scale, np.fft.fft(c) / scale, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(found[1], x, rtol=1e-4, atol=1e-5)


def test_what_stands_for_itself_is_real():
    """Of the first element of half a spectrum, and of the last one of an even length, the imaginary part is nothing."""
    _, c = _pair(2049)
    found = ipu.function(np.fft.irfft, target=ipu.Target(tiles_per_ipu=64, bytes_per_tile=65_536))(c)
    np.testing.assert_allclose(found, np.fft.irfft(c), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, c: np.fft.rfft(c), "give real numbers, or use np.fft.fft"),
        (lambda x, c: np.fft.fft(x, 0), "0 points are none"),
        (lambda x, c: np.fft.irfft(c[:, :1]), "the result would have 0 elements; give n="),
        (lambda x, c: np.fft.fft(x, norm=BEST), "norm is 'backward', 'ortho' or 'forward', got 'best'"),
        (lambda x, c: np.fft.hfft(c, norm=BEST), "norm is 'backward', 'ortho' or 'forward', got 'best'"),
        (lambda x, c: np.fft.fftn(x, s=(2,), axes=(0, 1)), "1 sizes for 2 axes"),
    ],
)
def test_refused(function, message):
    with pytest.raises(ipu.IpuError, match=rf"test_fourier.py:\d+: .*{message}"):
        ipu.function(function).trace(*_pair(4))
