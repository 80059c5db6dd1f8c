"""Products and convolutions of other forms than square: skinny, narrow, of odd layouts, with holes."""

from typing import Any

import numpy as np

from benchmarks.beside.case import Case
from benchmarks.workload import Array
from benchmarks.workloads.arrays import Numbers


def _factors(rows: int, inner: int, columns: int) -> list[Array]:
    return [Numbers().normal(rows, inner), Numbers().weights(inner, columns)]


def _product(x: Any, w: Any) -> Any:
    return x @ w


def _bytes(rows: int, inner: int, columns: int) -> list[Array]:
    shapes = ((rows, inner), (inner, columns))
    return [np.random.default_rng(0).integers(-128, 128, shape, np.int8) for shape in shapes]


def _bytes_jax(x: Any, w: Any) -> Any:
    import jax.numpy as jnp

    return jnp.matmul(x, w, preferred_element_type=jnp.int32)


def _bytes_torch(x: Any, w: Any) -> Any:
    import torch

    return torch._int_mm(x, w)  # type: ignore[attr-defined]


def _mlp(batch: int, width: int) -> list[Array]:
    numbers = Numbers()
    return [numbers.normal(batch, width), *(numbers.weights(width, width) for _ in range(3))]


def _mlp_jax(dtype: str) -> Any:
    def form(x: Any, *weights: Any) -> Any:
        import jax

        x = x.astype(dtype)
        for w in weights:
            x = jax.nn.relu(x @ w.astype(dtype))
        return x.astype("float32")

    return form


def _mlp_torch(dtype: str) -> Any:
    def form(x: Any, *weights: Any) -> Any:
        import torch

        kind = getattr(torch, dtype)
        x = x.to(kind)
        for w in weights:
            x = (x @ w.to(kind)).relu()
        return x.float()

    return form


def _einsums(size: int) -> list[Array]:
    numbers = Numbers()
    return [
        numbers.normal(4, 32, size),
        numbers.normal(16, 32, size, scale=size**-0.5),
        numbers.normal(size, 8, 24),
        numbers.normal(24, size, 8),
    ]


def _einsums_jax(a: Any, b: Any, c: Any, d: Any) -> Any:
    import jax.numpy as jnp

    return jnp.einsum("bkn,ckm->bcnm", a, b), jnp.einsum("ahd,dah->ad", c, d), jnp.einsum("ahd,dbh->hab", c, d)


def _einsums_torch(a: Any, b: Any, c: Any, d: Any) -> Any:
    import torch

    forms = (("bkn,ckm->bcnm", a, b), ("ahd,dah->ad", c, d), ("ahd,dbh->hab", c, d))
    return tuple(torch.einsum(*form) for form in forms)


def _images(images: int, size: int, channels: int) -> list[Array]:
    return [Numbers().normal(images, channels, size, size)]


def _window(groups: int, *window: int) -> Any:
    def inputs(images: int, size: int, channels: int) -> list[Array]:
        shape = (channels, channels // (groups or channels), *window)
        return [*_images(images, size, channels), Numbers().normal(*shape, scale=0.1)]

    return inputs


def _convolution_jax(stride: int, groups: int = 1) -> Any:
    def form(x: Any, w: Any) -> Any:
        import jax

        pads = [((each - 1) // 2,) * 2 for each in w.shape[2:]]
        return jax.lax.conv_general_dilated(x, w, (stride,) * 2, pads, feature_group_count=groups or x.shape[1])

    return form


def _convolution_torch(stride: int, groups: int = 1) -> Any:
    def form(x: Any, w: Any) -> Any:
        import torch

        pads = [(each - 1) // 2 for each in w.shape[2:]]
        return torch.nn.functional.conv2d(x, w, stride=stride, padding=pads, groups=groups or x.shape[1])

    return form


def _strided_gradient(images: int, size: int, channels: int) -> list[Array]:
    result = Numbers().normal(images, channels, (size + 1) // 2, (size + 1) // 2)
    return [*_window(1, 3, 3)(images, size, channels), result]


def _strided_gradient_jax(x: Any, w: Any, result: Any) -> Any:
    import jax

    return jax.vjp(_convolution_jax(2), x, w)[1](result)


def _strided_gradient_torch(x: Any, w: Any, result: Any) -> Any:
    import torch

    leaves = [each.detach().requires_grad_() for each in (x, w)]
    return torch.autograd.grad(_convolution_torch(2)(*leaves), leaves, result)


def _transposed_jax(x: Any, w: Any) -> Any:
    import jax

    flipped = w.swapaxes(0, 1)[:, :, ::-1, ::-1]
    return jax.lax.conv_general_dilated(x, flipped, (1, 1), [(2, 2)] * 2, lhs_dilation=(2, 2))


def _transposed_torch(x: Any, w: Any) -> Any:
    import torch

    return torch.nn.functional.conv_transpose2d(x, w, stride=2, padding=1)


def _resize_jax(x: Any) -> Any:
    import jax

    return jax.image.resize(x, (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]), "bilinear")


def _resize_torch(x: Any) -> Any:
    import torch

    return torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


_SMALL = {"rows": 4, "inner": 16, "columns": 8}
_IMAGES = ({"images": 8, "size": 28, "channels": 64}, {"images": 2, "size": 6, "channels": 4})
_MLP = ({"batch": 256, "width": 512}, {"batch": 3, "width": 8})

CASES = (
    *(
        Case(
            f"product_{rows}_rows", _factors, _product, _product, {"rows": rows, "inner": 1024, "columns": 4096}, _SMALL
        )
        for rows in (1, 2, 4, 8)
    ),
    Case("narrow_product", _factors, _product, _product, {"rows": 4096, "inner": 1024, "columns": 4}, _SMALL),
    Case(
        "product_with_vector",
        lambda rows, columns: [Numbers().normal(rows, columns), Numbers().normal(columns)],
        _product,
        _product,
        {"rows": 2048, "columns": 2048},
        {"rows": 5, "columns": 7},
    ),
    Case(
        "i8_product",
        _bytes,
        _bytes_jax,
        _bytes_torch,
        {"rows": 512, "inner": 512, "columns": 512},
        {"rows": 24, "inner": 32, "columns": 32},
    ),
    Case("f16_mlp", _mlp, _mlp_jax("float16"), _mlp_torch("float16"), *_MLP, tolerance=2e-2),
    Case("bf16_mlp", _mlp, _mlp_jax("bfloat16"), _mlp_torch("bfloat16"), *_MLP, tolerance=5e-2),
    Case("einsums", _einsums, _einsums_jax, _einsums_torch, {"size": 96}, {"size": 4}),
    Case("convolution", _window(1, 3, 3), _convolution_jax(1), _convolution_torch(1), *_IMAGES),
    Case("strided_convolution", _window(1, 3, 3), _convolution_jax(2), _convolution_torch(2), *_IMAGES),
    Case("strided_convolution_gradient", _strided_gradient, _strided_gradient_jax, _strided_gradient_torch, *_IMAGES),
    Case("depthwise_convolution", _window(0, 3, 3), _convolution_jax(1, 0), _convolution_torch(1, 0), *_IMAGES),
    Case("transposed_convolution", _window(1, 4, 4), _transposed_jax, _transposed_torch, *_IMAGES),
    Case("resize", _images, _resize_jax, _resize_torch, *_IMAGES),
)
