"""Derivatives that functions of JAX define themselves: they come along where the functions are called."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=4)


def _derivatives() -> dict[str, Any]:
    """Functions with a derivative that is not the one of their code."""
    jax = pytest.importorskip("jax")
    jnp, special = jax.numpy, jax.scipy.special

    @jax.custom_vjp
    def straight(x: Any, limit: Any) -> Any:
        return jnp.clip(x, -limit, limit)

    straight.defvjp(lambda x, limit: (straight(x, limit), x), lambda x, ct: (ct * x, jnp.zeros(())))

    @jax.custom_jvp
    def doubled(x: Any) -> Any:
        return x * x

    doubled.defjvp(lambda primals, tangents: (doubled(*primals), 3 * doubled(*primals) * tangents[0]))

    @jax.custom_vjp
    def dropped(key: Any, x: Any) -> Any:
        return x * jax.random.bernoulli(key, 0.5, x.shape)

    dropped.defvjp(
        lambda key, x: (dropped(key, x), key), lambda key, ct: (None, 9 * ct * jax.random.bernoulli(key, 0.5, ct.shape))
    )

    def in_loop(x: Any) -> Any:
        found, rows = jax.lax.scan(lambda c, i: (doubled(c) * 0.5, straight(c, 1.0).sum()), x, jnp.arange(3))
        return found + rows.sum()

    @jax.custom_vjp
    def turned(z: Any) -> Any:
        return z * z

    turned.defvjp(lambda z: (turned(z), z), lambda z, ct: (2.5 * z * ct + 1j * ct,))

    def of_parts(x: Any) -> Any:
        y = turned(x * (1 + 2j))
        return 2 * y.real + y.imag

    return {
        "custom_vjp": lambda x: straight(x, 0.5),
        "custom_jvp": doubled,
        "of a random key": lambda x: dropped(jax.random.key(1), x),
        "of complex numbers": of_parts,
        "in a loop": in_loop,
        "in a branch": lambda x: jax.lax.cond(x[0] < 1, doubled, lambda x: x, x),
        "vmap": jax.vmap(doubled),
        "of itself": jax.grad(lambda x: doubled(x).sum()),
        "erfinv": special.erfinv,
        "gammainc": lambda x: special.gammainc(1.5, x),
        "gammainc by its order": lambda x: special.gammainc(x, 1.5),
        "betainc": lambda x: special.betainc(1.5, 2.0, x),
        "exp1": special.exp1,
        "gamma": lambda x: jax.random.gamma(jax.random.key(0), x),
    }


_SLOW = {"betainc", "gammainc by its order", "gamma", "exp1", "gammainc", "of itself", "in a branch", "of a random key"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in _SLOW else [])
        for name in ("custom_vjp", "custom_jvp", "of complex numbers", "in a loop", "vmap", "erfinv", *sorted(_SLOW))
    ],
)
def test_derivatives_that_jax_has_come_along(name: str) -> None:
    jax = pytest.importorskip("jax")
    function, x = _derivatives()[name], np.linspace(0.1, 0.9, 6, dtype=np.float32)

    def value(x: Any) -> Any:
        return (function(x) * jax.numpy.arange(1.0, 7.0)).sum()

    ours = ipu.imported(jax.jit(value))
    found = ipu.function(lambda x: ipu.grad(ours)(x), target=SMALL)(x)
    np.testing.assert_allclose(found, jax.grad(value)(x), rtol=1e-4, atol=1e-4)


def test_gradients_by_complex_numbers_are_those_of_jax() -> None:
    """And so are functions that have a rule of their own, cotangents and tangents of complex numbers."""
    jax = pytest.importorskip("jax")
    z = np.array([1 + 2j, 0.5 - 1j], np.complex64)

    def derivatives(of: Any, numpy: Any, custom_vjp: Any) -> Any:
        turned = custom_vjp(lambda z: z * z)
        turned.defvjp(lambda z: (turned(z), z), lambda z, ct: (2.5 * z * ct + 1j * ct,))

        def every(z: Any) -> Any:
            tangent = z * 2j
            slope = of.grad(lambda z: (numpy.abs(numpy.exp(z) * turned(z)) ** 2 * z.real).sum())(z)
            own = of.grad(lambda x: (turned(x * (1 + 2j)).real * x).sum())(z.real)
            moved = of.jvp(lambda z: z * z, (z,), (tangent,))[1]
            return slope, own, moved, of.vjp(lambda z: z.real * turned(z), z)[1](tangent)[0]

        return every

    ours = ipu.function(derivatives(ipu, np, ipu.custom_vjp), target=SMALL)(z)
    for found, wanted in zip(ours, derivatives(jax, jax.numpy, jax.custom_vjp)(z), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(TypeError, match=r"jacfwd of <lambda>, whose argument is complex64\[2\]; take its real and its"):
        ipu.function(lambda z: ipu.jacfwd(lambda z: z * z)(z), target=SMALL)(z)
