"""Convolutions of PyTorch in any number of groups and dimensions, both ways, with their gradients."""

from itertools import count

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
TARGET = ipu.Target(tiles_per_ipu=4)
FORMS = (
    # channels in, out, groups, kernel, stride, padding, dilation
    (4, 6, 1, 3, 2, 1, 1),
    (4, 6, 2, 2, 3, 0, 1),
    (4, 4, 4, 3, 1, 1, 1),
    (4, 8, 4, 3, 2, 1, 2),
    (3, 3, 3, 1, 2, 0, 1),
    (6, 4, 2, 3, 1, 2, 1),
    (1, 2, 1, 2, 2, 1, 1),
    (2, 1, 1, 2, 1, 1, 3),
)
SIZES = {1: (11,), 2: (7, 6), 3: (5, 4, 6)}


def programs(rank: int, transposed: bool):
    """A convolution for each form, on its image and weight."""
    name = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"
    for place, (channels, out, groups, kernel, stride, padding, dilation) in zip(count(), FORMS, strict=False):
        channels, out = (out, channels) if transposed and out % groups == 0 else (channels, out)
        shape = (channels, out // groups) if transposed else (out, channels // groups)
        settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        if transposed:
            settings["output_padding"] = place % max(stride, dilation)
        tensors = torch.randn(2, channels, *SIZES[rank]), torch.randn(*shape, *(kernel,) * rank), torch.randn(out)
        yield tensors, lambda *given, how=settings: getattr(torch.nn.functional, name)(*given, **how)


@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
@pytest.mark.parametrize("rank", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)])
def test_convolutions_and_their_gradients(rank: int, transposed: bool):
    torch.manual_seed(rank)
    tensors, functions = zip(*programs(rank, transposed), strict=True)

    def all_of_them(*given):
        found = []
        for each, function in zip(given, functions, strict=True):
            result, gradients = torch.func.vjp(function, *each)
            found.append((result, gradients(torch.cos(result))))
        return found

    compiled = ipu.compile(all_of_them, args=tensors, target=TARGET)
    torch.testing.assert_close(compiled(*tensors), all_of_them(*tensors), atol=1e-4, rtol=1e-4)


def test_the_gradient_of_windows_that_lie_outside_of_the_image():
    image, weight = torch.randn(1, 1, 1, 3), torch.randn(1, 1, 1, 1)
    gradient = torch.func.grad(lambda x, w: torch.nn.functional.conv2d(x, w, stride=5, padding=2).cos().sum(), (0, 1))
    found = ipu.compile(gradient, args=[image, weight], target=TARGET)(image, weight)
    torch.testing.assert_close(found, gradient(image, weight))


@pytest.mark.parametrize("pad", [(0, -1, 0, -1), (-1, 2, 1, -2), (-1, -1)])
def test_what_a_padding_takes_away_stays_away(pad: tuple[int, ...]):
    """A convolution pads what is left with zeros, as in the gradient of one behind an uneven padding."""
    torch.manual_seed(0)
    x, w = torch.randn(1, 2, 7, 6), torch.randn(3, 2, 3, 3)

    def program(x, w):
        functional = torch.nn.functional
        return functional.conv2d(functional.pad(x, pad), w, padding=1), functional.pad(functional.pad(x, pad), (1, 1))

    exe = ipu.compile(program, args=[x, w], target=TARGET)
    for found, expected in zip(exe(x, w), program(x, w), strict=True):
        torch.testing.assert_close(found, expected)
