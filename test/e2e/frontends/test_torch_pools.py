"""Largest elements and means of PyTorch over windows, and over those that share out an image; gradients too."""

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
TARGET = ipu.Target(tiles_per_ipu=4)
POOLS = (
    # shape, sides of the result
    ((2, 3, 7), 3),
    ((2, 3, 8), 4),
    ((2, 3, 11), 3),
    ((1, 2, 11, 1), (3, 1)),
    ((2, 3, 7, 5), (3, 2)),
    ((3, 8, 6), (4, 2)),
    ((2, 3, 8, 6), (1, 1)),
    ((2, 3, 2, 3), (4, 3)),
    ((1, 2, 5, 4, 3), (2, 3, 2)),
    ((1, 2, 4, 4, 3), (1, 2, 3)),
)
MEANS = (
    # shape, kernel, stride, padding, ceil mode, whether the border counts
    ((2, 3, 7, 5), (2, 3), (2, 1), (0, 1), False, True),
    ((3, 8, 8), (3, 3), (3, 2), (1, 1), True, True),
    ((1, 2, 9, 7), (3, 2), (2, 3), (1, 0), True, False),
    ((1, 2, 9, 7), (2, 2), (3, 4), (0, 0), False, True, 5),
    ((1, 2, 5, 4, 6), (2, 2, 3), (2, 1, 2), (0, 1, 1), True, False),
)
LARGEST = (
    # shape, kernel, stride, padding, dilation, ceil mode
    ((2, 3, 8), 2, 2),
    ((3, 9), 3, 1, 1),
    ((2, 4, 11), (2,), (3,), (1,), 2, True),
    ((2, 3, 8, 7), 2),
    ((3, 8, 7), 2, 1, 1),
    ((2, 3, 8, 7), (3, 2), (1, 2), (1, 0), (2, 1), True),
    ((2, 3, 4, 5, 6), 2),
    ((3, 4, 5, 6), (2, 1, 3), 1, (1, 0, 1)),
)


@pytest.mark.parametrize("has_places", [False, True], ids=["values", "places"])
def test_largest_elements_of_windows(has_places: bool):
    torch.manual_seed(0)
    tensors = [torch.randn(shape) for shape, *_ in LARGEST]
    ranks = (1, 1, 1, 2, 2, 2, 3, 3)

    def all_of_them(*given):
        found = []
        for x, rank, (_, *settings) in zip(given, ranks, LARGEST, strict=True):
            named = zip(("kernel_size", "stride", "padding", "dilation", "ceil_mode"), settings, strict=False)
            found.append(getattr(torch.nn, f"MaxPool{rank}d")(**dict(named), return_indices=has_places)(x))
        return found

    compiled = ipu.compile(all_of_them, args=tensors, target=TARGET)
    torch.testing.assert_close(compiled(*tensors), all_of_them(*tensors), atol=0, rtol=0)


def test_gradients_of_largest_elements_of_windows():
    """Of equal elements the first one is the largest; windows overlap, and leave elements out."""
    torch.manual_seed(0)
    tensors = [torch.randn(shape).round(decimals=1) for shape, *_ in LARGEST] + [torch.zeros(2, 4, 5)]
    settings = [*(each for _, *each in LARGEST), [3, 2, 1]]
    ranks = (1, 1, 1, 2, 2, 2, 3, 3, 2)

    def total(*given):
        pooled = [
            getattr(torch.nn.functional, f"max_pool{rank}d")(x, *own)
            for x, rank, own in zip(given, ranks, settings, strict=True)
        ]
        return sum((each * torch.arange(each.numel()).reshape(each.shape)).sum() for each in pooled)

    gradients = torch.func.grad(total, tuple(range(len(tensors))))
    compiled = ipu.compile(gradients, args=tensors, target=TARGET)
    for found in (compiled(*tensors), compiled.run_per_tile([each.numpy() for each in tensors])):
        for one, other in zip(found, gradients(*tensors), strict=True):
            torch.testing.assert_close(torch.as_tensor(one), other, atol=0, rtol=1e-6)
    assert "scatter" not in compiled.mlir("l3")


def test_largest_integers_of_windows():
    x = torch.randint(-99, 99, (2, 3, 8, 7), dtype=torch.int32)

    def largest(x):
        return torch.nn.functional.max_pool2d(x, 3, 2, 1)

    torch.testing.assert_close(ipu.compile(largest, args=[x], target=TARGET)(x), largest(x))


def test_gradients_of_means_of_windows():
    torch.manual_seed(0)
    tensors = [torch.randn(shape) for shape, *_ in MEANS]

    def gradients(*given):
        found = []
        for x, (_, kernel, *settings) in zip(given, MEANS, strict=True):
            pool = getattr(torch.nn.functional, f"avg_pool{len(kernel)}d")
            found.append(torch.func.grad(lambda x, how=settings, k=kernel, pool=pool: pool(x, k, *how).sin().sum())(x))
        return found

    compiled = ipu.compile(gradients, args=tensors, target=TARGET)
    torch.testing.assert_close(compiled(*tensors), gradients(*tensors), atol=1e-5, rtol=1e-5)


def test_adaptive_means_and_their_gradients():
    torch.manual_seed(0)
    tensors = [torch.randn(shape) for shape, _ in POOLS]

    def all_of_them(*given):
        found = []
        for x, (_, sides) in zip(given, POOLS, strict=True):
            rank = len(sides) if isinstance(sides, tuple) else 1
            pool = getattr(torch.nn.functional, f"adaptive_avg_pool{rank}d")
            result, gradient = torch.func.vjp(lambda x, pool=pool, sides=sides: pool(x, sides), x)
            found.append((result, gradient(torch.cos(result))))
        return found

    compiled = ipu.compile(all_of_them, args=tensors, target=TARGET)
    torch.testing.assert_close(compiled(*tensors), all_of_them(*tensors), atol=1e-5, rtol=1e-5)


def test_means_of_whole_numbers_are_whole():
    x = torch.tensor([[[-7, 3, 5, 2], [-8, 1, 9, -3], [0, -2, 4, 4], [-5, -6, 7, 1]]])
    pool = torch.nn.functional.avg_pool2d
    for function in (lambda x: pool(x, 2), lambda x: pool(x, 3, 1, 1, False, False)):
        found = ipu.compile(function, args=(x,), target=TARGET)(x)
        torch.testing.assert_close(found, function(x))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
def test_images_of_bytes_in_other_sizes_are_those_of_pytorch_to_the_bit(mode, antialias):
    x = torch.randint(0, 256, (2, 3, 9, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    for size in ((20, 7), (4, 33)):

        def function(x, size=size):
            return torch.nn.functional.interpolate(x, size=size, mode=mode, antialias=antialias)

        torch.testing.assert_close(ipu.compile(function, args=(x,), target=TARGET)(x), function(x), rtol=0, atol=0)
