"""Run the primitives of JAX on samples that its own tests have of them.

python scripts/sweeps/jax_primitives.py results.jsonl
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax._src.internal_test_util import test_harnesses
from outcomes import TARGET, Case, NotTaken, run_all

import ipu_mlir as ipu

HEAD = f"""Written by `scripts/sweeps/jax_primitives.py` with jax {jax.__version__}: of each primitive up to four of
the samples that the tests of JAX have of it, in all types of elements, compared with what JAX gives. Samples of which
JAX says that it does not take them on processors are left out, and sorts that may put equal keys in any order."""
_OF_EACH = 4
_NARROW = ("float16", "bfloat16")


def cases() -> list[Case]:
    """Of every primitive samples at equal distances among all of them."""
    by_primitive: dict[str, list[Any]] = {}
    for each in sorted(test_harnesses.all_harnesses, key=lambda each: each.fullname):  # they are made of sets
        by_primitive.setdefault(each.group_name, []).append(each)
    chosen = (
        (name, each)
        for name, samples in by_primitive.items()
        for each in dict.fromkeys(samples[len(samples) * n // _OF_EACH] for n in range(_OF_EACH))
    )
    kinds = ((name, each, np.dtype(each.dtype).name) for name, each in chosen)
    return [
        Case(each.fullname, name, "jax.lax", partial(_both, each), 4, kind=kind if kind in _NARROW else "")
        for name, each, kind in kinds
    ]


def _both(sample: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    if any(each.skip_run and each.filter(device="cpu", dtype=sample.dtype) for each in sample.jax_unimplemented):
        raise NotTaken("JAX says that it does not take it")
    if sample.params.get("is_stable") is False:
        raise NotTaken("which of equal keys comes first is not said")
    with jax.enable_x64(True):
        try:
            args = sample.dyn_args_maker(np.random.RandomState(0))
            expected = jax.jit(sample.dyn_fun)(*args)
        except Exception as error:
            raise NotTaken(f"{type(error).__name__}: {error}") from error
        found = ipu.compile(sample.dyn_fun, args=args, target=TARGET)(*args)
        return _arrays(found, sample.group_name), _arrays(expected, sample.group_name)


def _arrays(results: Any, primitive: str) -> list[np.ndarray]:
    """The results as arrays, keys of random numbers as their bits."""
    leaves = jax.tree.leaves(results)[: 1 if primitive == "approx_top_k" else None]  # which of equal ones is not said
    are_keys = [jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key) for leaf in leaves]
    said = np.tril if primitive == "cholesky" else np.asarray  # nobody says what stands above the diagonal
    return [said(jax.random.key_data(leaf) if is_key else leaf) for leaf, is_key in zip(leaves, are_keys, strict=True)]


if __name__ == "__main__":
    run_all(cases, __doc__, "Primitives of JAX", HEAD, "jax-primitives.md")
