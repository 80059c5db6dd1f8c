"""Run functions of JAX, ops of PyTorch and node tests of ONNX on constants: print those that are wrong or crash.

python scripts/sweeps/on_constants.py jax|torch|onnx [EVERY [FIRST]]      every case, or one of EVERY from FIRST on

What a program computes of constants alone is folded: by the framework, by its importer and by passes.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from outcomes import CRASHED, TARGET, WRONG, Case, outcome

import ipu_mlir as ipu


def cases_of(framework: str) -> Sequence[Case]:
    """All cases of a framework."""
    if framework == "onnx":
        return _nodes()
    return import_module({"jax": "jax_functions", "torch": "torch_ops"}[framework]).constant_cases()


def _nodes() -> Sequence[Case]:
    from onnx.backend.test.loader import load_model_tests

    return [Case(case.name, case.name, "", partial(_both, case)) for case in load_model_tests(kind="node")]


def _both(case: Any) -> tuple[list[Any], list[Any]]:
    """What the model of a node test gives whose inputs have become weights, and what it is to give."""
    import onnx

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from onnx_node_tests import array
    from outcomes import NotTaken

    inputs, expected = case.data_sets[0]
    if any(isinstance(each, list) or each is None for each in (*inputs, *expected)):
        raise NotTaken("takes or gives sequences")
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for given, value in zip(model.graph.input, inputs, strict=False):
        tensor = value if isinstance(value, onnx.TensorProto) else onnx.numpy_helper.from_array(value)
        model.graph.initializer.append(tensor)
        model.graph.initializer[-1].name = given.name
    del model.graph.input[:]
    found = ipu.compile(model, target=TARGET)()
    return list(found if isinstance(found, tuple) else (found,)), [array(each) for each in expected]


def main(framework: str, every: int = 1, first: int = 0) -> int:
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for case in cases_of(framework)[first::every]:
        state, reason = outcome(case)
        counts[state] += 1
        if state in (WRONG, CRASHED):
            print(f"{case.name}: {state}: {reason}", flush=True)
    print(f"{framework}: {', '.join(f'{count} {state}' for state, count in counts.most_common())}")
    return int(bool(counts[WRONG] + counts[CRASHED]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:4])))
