"""How far the functions of kernels are from exact, over all f32: the table of ``docs/kernels.md``.

    nice python scripts/kernel_errors.py            # one to two minutes for each function
    python scripts/kernel_errors.py --every 4099 exp tanh

The judge is the same function in f64. A NaN or an infinity where the other has none is an error, not a distance.
"""

import argparse
import inspect

import numpy as np

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.numeric import function
from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.array_ir.parsing import parse_program
from ipu_mlir.runtime.translator.kernels.functions import FUNCTIONS
from ipu_mlir.runtime.translator.translate import translate_arrays

_AT_ONCE = 1 << 18
_PROGRAM = """
program @main(%x) -> (%y[d0] : {count}) {{
  argument %x : float32[{count}]
  temporary %y : float32[{count}]
  elementwise {count} {{
    store {name}(%x[d0]), %y[d0]
  }}
}}
"""


def main() -> None:
    """Print a line of the table for each function that is asked for."""
    unary = [name for name, rule in FUNCTIONS.items() if len(inspect.signature(rule).parameters) == 2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help=f"of {', '.join(unary)}; all by default")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="look at one f32 of N")
    given = parser.parse_args()
    print("| f32 | largest error | at | mean error |\n|---|---:|---:|---:|")
    for name in given.functions or unary:
        most, place, mean = errors(name, given.every)
        print(f"| `{name}` | {most:.3f} ulp | {place!r} | {mean:.3f} ulp |", flush=True)


def errors(name: str, every: int = 1) -> tuple[float, float, float]:
    """The largest error of ``name`` in ulp, where it is, and the mean over all finite results.

    Raises:
        AssertionError: it gives a NaN or an infinity where there is none, or none where there is one.
    """
    program = parse_program(_PROGRAM.format(count=_AT_ONCE, name=name))
    translation = translate_arrays(program, TranslatorOptions(kernels="always"))
    assert ".run(" in translation.source, f"{name} has no form in kernels"
    engine, judge = Engine.of(translation), function(name)
    most, place, total, count = 0.0, 0.0, 0.0, 0
    exact = np.empty(_AT_ONCE)
    for start in range(0, 2**32, _AT_ONCE * every):
        x = (start + every * np.arange(_AT_ONCE)).astype(np.uint32).view(np.float32)
        (got,) = engine.run([x])
        with np.errstate(all="ignore"):
            judge(x.astype(np.float64), exact)
            rounded = exact.astype(np.float32)
            finite = np.isfinite(rounded)
            beyond = np.abs(exact) < 2.0**128  # by less than the last bit: rounded to infinity or to the largest
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
