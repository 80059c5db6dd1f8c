"""The sweeps over functions, ops and layers of frameworks: some of their cases, and what a sweep notices."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import ipu_mlir as ipu

SCRIPTS = Path(__file__).parents[3] / "scripts" / "sweeps"
SAMPLES = {
    "jax_functions": (
        *(
            "jnp.argsort(x, axis=0, descending=True)",
            "jnp.bincount(k, weights=v[:4], length=4)",
            "jnp.cov(x)  gradient",
        ),
        *("jnp.cumulative_prod(v)  gradient", "jnp.median(x, axis=1)  gradient", "jnp.histogram(v, bins=4)"),
        *("jnp.unique(k, size=3, return_inverse=True, return_counts=True)", "jnp.power(x, i)  in int32"),
        *("nn.dot_product_attention(f4, f4 + 1, f4 * 2, is_causal=True)  gradient", "nn.squareplus(x)  in bfloat16"),
        *("lax.associative_scan(jnp.maximum, x, reverse=True)", "lax.cummax(x, axis=1)  gradient"),
        *('lax.reduce_window(p, p.dtype.type(1), lax.mul, (2, 2), (1, 2), "SAME")', "lax.top_k(x, 2)  gradient"),
        *("special.betainc(p, q, u)", "special.zeta(p + 1.5, q)", "random.permutation(key, v)", "random.gamma(key, p)"),
    ),
    "jax_primitives": (
        *("bessel_i0e_shape_bfloat16_20_20_", "cummin_dtype_by_fun_shape_int16_8_9_axis_0_reverse_False"),
        *("div_singularity_0_by_0_lhs_float32_2_rhs_float32_2_", "random_gamma_shape_float64_"),
        *("reduce_precision_in_float32_5_7_out_float16_5_7_", "top_k_dtypes_inshape_uint8_5_3_k_2"),
    ),
    "numpy_functions": (
        *("np.histogram(v, 4)", "np.linalg.lstsq(x.T, w[:4])", "np.nanquantile(n, 0.3)", "np.sort(x, axis=0)"),
        *("np.fft.irfft(z[0])", "np.sum(i)", "np.trapezoid(v, s5)", "x[i % 3, i]"),
    ),
    "torch_ops": (
        *("cumprod  gradient", "index_put", "logcumsumexp", "nn.functional.unfold", "scatter_add", "topk", "var_mean"),
        *("GroupNorm  0.0  training", "MultiheadAttention  0.5  gradient", "Conv3d  0.0  inference"),
        *("vision transformer  forward", "variational autoencoder  10 steps"),
    ),
    "keras_layers": (
        *("BatchNormalization  training", "Conv1DTranspose  gradient", "Dropout  training", "Embedding  gradient"),
        *("GroupQueryAttention  inference", "LSTM (2)  inference", "SeparableConv2D  gradient"),
        *("SpectralNormalization  training", "GRU  gradient"),
    ),
}
NEEDS = {
    "jax_functions": ("jax",),
    "jax_primitives": ("jax",),
    "torch_ops": ("torch", "expecttest"),
    "keras_layers": ("tensorflow", "keras"),
}


@pytest.fixture
def sweep(monkeypatch):
    """The module of a sweep."""
    monkeypatch.syspath_prepend(str(SCRIPTS))

    def load(name: str):
        for package in NEEDS.get(name, ()):
            pytest.importorskip(package)
        return import_module(name)

    yield load
    for name in list(sys.modules):
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(SCRIPTS)):
            del sys.modules[name]


@pytest.mark.parametrize("name", SAMPLES)
def test_some_cases_agree(sweep, name: str):
    module, outcomes = sweep(name), sweep("outcomes")
    cases = {case.name: case for case in module.cases()}
    ended = {title: outcomes.outcome(cases[title]) for title in SAMPLES[name]}
    assert ended == dict.fromkeys(SAMPLES[name], (outcomes.AGREE, ""))


def test_the_table_has_every_function_of_jax(sweep):
    assert sweep("jax_functions").left_out() == set()


def test_outcomes_tell_apart_what_can_happen(sweep):
    outcomes = sweep("outcomes")

    def ends(run) -> str:
        return outcomes.outcome(outcomes.Case("f(x)", "f", "m", run))[0]

    def refuse():
        raise ipu.CompileError("it has 1 op that cannot be imported: f")

    one = np.float32([1.0, np.nan])
    assert ends(lambda: ([one], [one + np.float32(1e-6)])) == "agree"
    assert ends(lambda: ([one], [one + np.float32(1e-4)])) == "wrong"
    assert ends(lambda: ([one], [np.float32([1.0, 1.0])])) == "wrong"
    assert ends(lambda: ([one], [one.astype(np.float64)])) == "wrong"
    assert ends(lambda: ([one], [one, one])) == "wrong"
    assert ends(refuse) == "not imported"
    assert ends(lambda: ipu.compile("nonsense")) == "refused"
    assert ends(lambda: 1 / 0) == "crashed"


def test_a_page_counts_cases_and_gives_reasons(sweep):
    outcomes = sweep("outcomes")
    cases = [outcomes.Case(name, name[0], "m", lambda: ([], [])) for name in ("f(x)", "f(y)", "g(x)", "h(x)")]
    kept = {"f(x)": ("agree", ""), "f(y)": ("refused", "op works on complex numbers"), "g(x)": ("agree", "")}
    text = outcomes.page("Title", "Head.", cases, {**kept, "h(x)": (outcomes.NO_CASE, "")})
    assert "| m | 2 | 3 | 2 | 0 | 1 | 0 | 0 |" in text
    assert "| complex numbers | refused | 1 | `f` |" in text and "**m**: `g`" in text
