"""How far the functions of kernels are from exact, over all f32 or samples of f64: the tables of ``docs/kernels.md``.

    nice python scripts/kernel_errors.py            # one to two minutes for each function
    python scripts/kernel_errors.py --every 4099 exp tanh
    python scripts/kernel_errors.py --f64 100       # some 26 million f64 for each function

The judge is the same function in f64, or in ``long double``. A NaN or an infinity where the other has none is an
error, not a distance.
"""

import argparse
import inspect
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.numeric import function
from ipu_mlir.runtime.translator.kernels.scalar.functions import FUNCTIONS
from ipu_mlir.runtime.translator.kernels.scalar.wide_functions import FUNCTIONS_OF_F64
from ipu_mlir.runtime.translator.statements.access import Role, temporary
from ipu_mlir.runtime.translator.statements.expression import Apply, Read
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Origin, Program
from ipu_mlir.runtime.translator.translate import translate_statements

_AT_ONCE = 1 << 18


def main() -> None:
    """Print a line of the table for each function that is asked for."""
    unary = [name for name, rule in FUNCTIONS.items() if len(inspect.signature(rule).parameters) == 2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help=f"of {', '.join(unary)}; all by default")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="look at one f32 of N")
    parser.add_argument("--f64", type=int, metavar="N", help=f"look at N times {_AT_ONCE:,} f64 instead")
    given = parser.parse_args()
    kind = "f64" if given.f64 else "f32"
    print(f"| {kind} | largest error | at | mean error |\n|---|---:|---:|---:|")
    for name in given.functions or (FUNCTIONS_OF_F64 if given.f64 else unary):
        most, place, mean = errors_of_f64(name, given.f64) if given.f64 else errors(name, given.every)
        print(f"| `{name}` | {most:.3f} ulp | {place!r} | {mean:.3f} ulp |", flush=True)


def errors(name: str, every: int = 1) -> tuple[float, float, float]:
    """The largest error of ``name`` in ulp, where it is, and the mean over all finite results.

    Raises:
        AssertionError: it gives a NaN or an infinity where there is none, or none where there is one.
    """
    judge = function(name)
    exact = np.empty(_AT_ONCE)

    def parts() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, 2**32, _AT_ONCE * every):
            x = (start + every * np.arange(_AT_ONCE)).astype(np.uint32).view(np.float32)
            judge(x.astype(np.float64), exact)
            yield x, exact

    return _errors(name, 32, parts())


def errors_of_f64(name: str, times: int) -> tuple[float, float, float]:
    """As ``errors``, on samples of all exponents and of numbers around 1."""
    rng = np.random.default_rng(0)

    def parts() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for number in range(times):
            bits = rng.integers(0, 1 << 64, _AT_ONCE, dtype=np.uint64).view(np.float64)
            x = bits if number % 4 == 0 else rng.normal(number % 2, 0.1 * 8 ** (number % 4), _AT_ONCE)
            yield x, getattr(np, name)(x.astype(np.longdouble))

    return _errors(name, 64, parts())


def _errors(name: str, bits: int, parts: Iterator[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float, float]:
    """Of arguments and exact results, part by part."""
    dtype = np.dtype(f"f{bits // 8}")
    x, y = (temporary(each, dtype, (_AT_ONCE,), [0]) for each in "xy")
    x = replace(x, buffer=replace(x.buffer, role=Role.ARGUMENT))
    computed = Elementwise((_AT_ONCE,), Origin("", ""), (y,), (Apply(dtype, name, (Read(dtype, x),)),))
    program = Program("main", (x.buffer,), (computed,), (y,), ((_AT_ONCE,),))
    translation = translate_statements(program, TranslatorOptions(kernels="always"))
    assert ".run(" in translation.source, f"{name} has no form in kernels"
    engine = Engine.of(translation)
    most, place, total, count = 0.0, 0.0, 0.0, 0
    with np.errstate(all="ignore"):
        for x, exact in parts:
            (got,) = engine.run([x])
            rounded = exact.astype(dtype)
            finite = np.isfinite(rounded)
            beyond = np.abs(exact) < np.exp2(exact.dtype.type(np.finfo(dtype).maxexp))  # by less than the last bit
            same = (got == rounded) | (np.isnan(got) & np.isnan(rounded)) | (finite & np.isfinite(got)) | beyond
            assert same.all(), f"{name}({x[~same][0]!r}) is {got[~same][0]!r}, not {rounded[~same][0]!r}"
            distance = np.abs(got - exact) / np.spacing(np.abs(rounded))
            finite &= np.isfinite(got)
            distance[~finite] = 0
            worst = int(distance.argmax())
            total, count = total + float(distance.sum()), count + int(finite.sum())
            if distance[worst] > most:
                most, place = float(distance[worst]), float(x[worst])
    return most, place, total / count


if __name__ == "__main__":
    main()
