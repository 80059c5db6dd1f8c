"""Complex numbers and Fourier transforms in StableHLO."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
RNG = np.random.default_rng(2)
X = RNG.standard_normal((3, 8)).astype(np.float32)
C = (X + 1j * X[::-1]).astype(np.complex64)


def pairs(array: np.ndarray) -> np.ndarray:
    return np.stack([array.real, array.imag], -1)


def assert_both_give(text: str, arrays: list[np.ndarray], expected: list[np.ndarray], tiles: int = 4) -> None:
    exe = ipu.compile(text, target=ipu.Target(tiles_per_ipu=tiles))
    for found in (exe.run(arrays), exe.run_per_tile(arrays)):
        for one, other in zip(found, expected, strict=True):
            other = pairs(other) if other.dtype.kind == "c" else other
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5 * np.abs(other).max())


@pytest.mark.parametrize("length", [8, 7, 1])
def test_transforms(length: int):
    half = length // 2 + 1
    text = f"""
    func.func @main(%x: tensor<3x{length}xf32>, %c: tensor<3x{length}xcomplex<f32>>, %h: tensor<3x{half}xcomplex<f32>>)
        -> (tensor<3x{half}xcomplex<f32>>, tensor<3x{length}xcomplex<f32>>, tensor<3x{length}xcomplex<f32>>,
            tensor<3x{length}xf32>, tensor<3x{length}xcomplex<f32>>) {{
      %0 = stablehlo.fft %x, type = RFFT, length = [{length}]
          : (tensor<3x{length}xf32>) -> tensor<3x{half}xcomplex<f32>>
      %1 = stablehlo.fft %c, type = FFT, length = [{length}]
          : (tensor<3x{length}xcomplex<f32>>) -> tensor<3x{length}xcomplex<f32>>
      %2 = stablehlo.fft %c, type = IFFT, length = [3, {length}]
          : (tensor<3x{length}xcomplex<f32>>) -> tensor<3x{length}xcomplex<f32>>
      %3 = stablehlo.fft %h, type = IRFFT, length = [3, {length}]
          : (tensor<3x{half}xcomplex<f32>>) -> tensor<3x{length}xf32>
      %4 = stablehlo.fft %c, type = FFT, length = [3, {length}]
          : (tensor<3x{length}xcomplex<f32>>) -> tensor<3x{length}xcomplex<f32>>
      return %0, %1, %2, %3, %4 : tensor<3x{half}xcomplex<f32>>, tensor<3x{length}xcomplex<f32>>,
          tensor<3x{length}xcomplex<f32>>, tensor<3x{length}xf32>, tensor<3x{length}xcomplex<f32>>
    }}"""
    x, c, h = X[:, :length].copy(), C[:, :length].copy(), C[:, :half].copy()
    expected = [np.fft.rfft(x), np.fft.fft(c), np.fft.ifft2(c), np.fft.irfft2(h, (3, length)), np.fft.fft2(c)]
    assert_both_give(text, [x, pairs(c), pairs(h)], expected)


def test_transforms_of_long_rows_are_split():
    rows, row, half = "2x1440", "tensor<2x1440xf32>", "tensor<2x721xcomplex<f32>>"
    pair = f"tensor<{rows}xcomplex<f32>>"
    text = f"""
    func.func @main(%x: {row}, %c: {pair}) -> ({half}, {pair}, {pair}) {{
      %0 = stablehlo.fft %x, type = RFFT, length = [1440] : ({row}) -> {half}
      %1 = stablehlo.fft %c, type = FFT, length = [1440] : ({pair}) -> {pair}
      %2 = stablehlo.fft %c, type = IFFT, length = [1440] : ({pair}) -> {pair}
      return %0, %1, %2 : {half}, {pair}, {pair}
    }}"""
    x = RNG.standard_normal((2, 1440)).astype(np.float32)
    c = (x + 1j * x[::-1]).astype(np.complex64)
    assert ipu.compile(text, target=ipu.Target(tiles_per_ipu=64)).mlir("l2").count("library_call") == 6
    assert_both_give(text, [x, pairs(c)], [np.fft.rfft(x), np.fft.fft(c), np.fft.ifft(c)], tiles=64)


KIND = "tensor<3x8xcomplex<f32>>"


@pytest.mark.parametrize(
    ("op", "function"),
    [
        (f"stablehlo.multiply %a, %b : {KIND}", np.multiply),
        (f"stablehlo.divide %a, %b : {KIND}", np.divide),
        (f"stablehlo.subtract %a, %b : {KIND}", np.subtract),
        (f"stablehlo.exponential %b : {KIND}", lambda a, b: np.exp(b)),
        (f"stablehlo.reverse %b, dims = [1] : {KIND}", lambda a, b: b[:, ::-1]),
        (f"stablehlo.power %a, %b : {KIND}", np.power),
        (f"stablehlo.logistic %a : {KIND}", lambda a, b: 1 / (1 + np.exp(-a))),
        (f"stablehlo.rsqrt %a : {KIND}", lambda a, b: a**-0.5),
        (f"stablehlo.sign %a : {KIND}", lambda a, b: np.sign(a)),
        *(
            (f"stablehlo.{op} %a : {KIND}", lambda a, b, function=function: function(a))
            for op, function in {
                "cosine": np.cos,
                "exponential_minus_one": np.expm1,
                "log": np.log,
                "log_plus_one": np.log1p,
                "sine": np.sin,
                "sqrt": np.sqrt,
                "tan": np.tan,
                "tanh": np.tanh,
            }.items()
        ),
    ],
)
def test_functions(op: str, function):
    text = f"func.func @main(%a: {KIND}, %b: {KIND}) -> {KIND} {{\n  %0 = {op}\n  return %0 : {KIND}\n}}"
    assert_both_give(text, [pairs(C), pairs(C[::-1] * 1j)], [function(C, C[::-1] * 1j)])


def test_numbers_and_products():
    text = f"""func.func @main(%a: {KIND}) -> (tensor<3x8xf32>, tensor<3x8xi1>, tensor<3x3xcomplex<f32>>,
                                          tensor<3xcomplex<f32>>, tensor<8xcomplex<f32>>) {{
      %k = stablehlo.constant dense<(0.0, 1.0)> : {KIND}
      %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
      %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
      %0 = stablehlo.abs %a : ({KIND}) -> tensor<3x8xf32>
      %1 = stablehlo.multiply %a, %k : {KIND}
      %2 = stablehlo.compare NE, %a, %1 : ({KIND}, {KIND}) -> tensor<3x8xi1>
      %3 = stablehlo.dot_general %a, %1, contracting_dims = [1] x [1] : ({KIND}, {KIND}) -> tensor<3x3xcomplex<f32>>
      %4 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1]
          : ({KIND}, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
      %5 = stablehlo.reduce(%a init: %one) applies stablehlo.multiply across dimensions = [0]
          : ({KIND}, tensor<complex<f32>>) -> tensor<8xcomplex<f32>>
      return %0, %2, %3, %4, %5 : tensor<3x8xf32>, tensor<3x8xi1>, tensor<3x3xcomplex<f32>>, tensor<3xcomplex<f32>>,
          tensor<8xcomplex<f32>>
    }}"""
    a = C.copy()
    a[0, :2] = 0, 1e30 + 1e30j  # no square overflows
    products = [np.abs(a), a != a * 1j]
    expected = [*products, C @ (C * 1j).T, C.sum(1), C.prod(0)]
    exe = ipu.compile(text, target=TARGET)
    for found in (exe.run([pairs(a)])[:2], exe.run_per_tile([pairs(a)])[:2]):
        for one, other in zip(found, products, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    assert_both_give(text, [pairs(C)], [np.abs(C), C != C * 1j, *expected[2:]])


def test_functions_at_their_edges():
    """Near 0, far from it, on the axes and at 0 itself."""
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    functions = (
        jnp.sqrt,
        jnp.log,
        jnp.tanh,
        jnp.sin,
        jnp.expm1,
        jnp.log1p,
        jnp.sign,
        lambda z: z ** (0.5 + 1j),
        jnp.abs,
    )

    @jax.jit
    def program(z):
        return [function(z) for function in functions]

    z = np.array([1e-6 + 1e-6j, -4, 4, -4j, 4j, 30 - 30j, -30 + 1e-3j, 1e-30j, -1 + 1e-6j], np.complex64)
    for one, other in zip(ipu.compile(program, args=[z], target=TARGET)(z), program(z), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-12)
    zero = np.zeros(1, np.complex64)
    for one in ipu.compile(jax.jit(lambda z: (jnp.sqrt(z), jnp.sign(z))), args=[zero], target=TARGET)(zero):
        np.testing.assert_array_equal(one, zero)


def test_loops_branches_sorts_and_scatters_of_jax():
    jax = pytest.importorskip("jax")
    jnp, lax = jax.numpy, jax.lax

    @jax.jit
    def program(c, place, turned):
        def escape(_, state):
            z, count = state
            z = jnp.where(jnp.abs(z) <= 2, z * z + c, z)
            return z, count + (jnp.abs(z) <= 2)

        def long(state):
            return jnp.abs(state[1]).max() < 10

        return {
            "loop": lax.fori_loop(0, 5, escape, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32))),
            "while": lax.while_loop(long, lambda s: (s[0] + 1, s[1] * 2j), (0, c)),
            "scan": lax.scan(lambda a, b: (a + b, a * b), c[0], c),
            "branch": lax.cond(turned, lambda z: z * 1j, jnp.conj, c),
            "choice": lax.switch(place[0], [lambda z: z, lambda z: z + 1, lambda z: z.conj()], c),
            "sorted": jnp.sort(c, axis=1),
            "scatter": (c.at[place].set(1j), c.at[place].add(2 + 1j), c[place]),
            "running": (jnp.cumsum(c, axis=1), jnp.cumprod(c, axis=0)),
            "range": jnp.arange(4, dtype=jnp.complex64),
        }

    arguments = (C, np.array([1, 2], np.int32), np.True_)
    exe = ipu.compile(program, args=arguments, target=TARGET)
    found, expected = jax.tree.leaves(exe(*arguments)), jax.tree.leaves(program(*arguments))
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)


def test_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.jit
    def program(x, c, k):
        return {
            "fft": jnp.fft.fft(c, n=6, axis=0, norm="ortho"),
            "rfft2": jnp.fft.rfft2(x),
            "irfft": jnp.fft.irfft(c, n=7),
            "hfft": jnp.fft.hfft(c),
            "shift": jnp.fft.fftshift(c),
            "filter": jnp.fft.irfft(jnp.fft.rfft(x) * k, n=8),
            "gradient": jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 3))(x),
            "functions": jnp.where(c == c[0], jnp.exp(c), jnp.conj(c) / c) @ c.T,
            "element": c[0, 1],
            "real": c.real,
        }

    k = C[0, :5]
    exe = ipu.compile(program, args=(X, C, k), target=TARGET)
    found, expected = exe(X, C, k), program(X, C, k)
    for name, other in expected.items():
        assert (found[name].dtype, found[name].shape) == (other.dtype, other.shape)
        scale = float(np.abs(other).max())
        np.testing.assert_allclose(found[name], other, rtol=1e-4, atol=1e-5 * scale, err_msg=name)
