"""Write ``docs/onnx-model-tests.md``: what becomes of the tests of the onnx package that are models, not nodes.

python scripts/onnx_model_tests.py results.jsonl    those that it has no outcome of, and the page: about four minutes
"""

import dataclasses
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import onnx
from onnx.backend.test.loader import load_model_tests
from onnx_node_tests import OUTCOMES, outcome, short

PAGE = Path(__file__).parents[1] / "docs" / "onnx-model-tests.md"
KINDS = ("simple", "pytorch-converted", "pytorch-operator")


def loaded(case):
    """``case`` with its model and its arrays, which may be in files."""
    if case.model is not None:
        return case
    folder = Path(case.model_dir)
    sets = [(_arrays(each, "input"), _arrays(each, "output")) for each in sorted(folder.glob("test_data_set_*"))]
    return dataclasses.replace(case, model=onnx.load(folder / "model.onnx"), data_sets=sets)


def _arrays(folder: Path, name: str) -> list:
    count = len(list(folder.glob(f"{name}_*.pb")))
    files = [(folder / f"{name}_{number}.pb").read_bytes() for number in range(count)]
    return [onnx.numpy_helper.to_array(onnx.TensorProto.FromString(each)) for each in files]


def page(results: dict[tuple[str, str], tuple[str, str]]) -> Iterator[str]:
    """The lines of the page."""
    yield from (
        *("# Model tests of the onnx package", ""),
        f"Written by `scripts/onnx_model_tests.py` with onnx {onnx.__version__}: the tests of `onnx.backend.test`",
        "that are models, run by the class `Backend` of `ipu_mlir.onnx_backend`;",
        "[onnx-node-tests.md](onnx-node-tests.md) has the others.",
        "Every share is of all cases, those that are refused among them.",
        *(
            "",
            f"| collection | cases | {' | '.join(OUTCOMES)} | share that agrees |",
            "|---" * (len(OUTCOMES) + 3) + "|",
        ),
    )
    for kind in KINDS:
        counts = Counter(state for (own, _), (state, _) in results.items() if own == kind)
        row = " | ".join(str(counts[each]) for each in OUTCOMES)
        yield f"| {kind} | {counts.total()} | {row} | {counts['agree'] / max(1, counts.total()):.1%} |"
    yield from ("", "| not imported | reason |", "|---|---|")
    for (_, name), (state, reason) in results.items():
        if state != "agree":
            yield f"| {name} | {short(reason)} |"


def main() -> None:
    warnings.simplefilter("ignore")
    kept = Path(sys.argv[1])
    lines = kept.read_text().splitlines() if kept.exists() else []
    results = {(kind, name): (state, reason) for kind, name, state, reason in map(json.loads, lines)}
    with kept.open("a") as file:
        for kind in KINDS:
            for case in load_model_tests(kind=kind):
                if (kind, case.name) not in results:
                    results[kind, case.name] = outcome(loaded(case))
                    file.write(json.dumps([kind, case.name, *results[kind, case.name]]) + "\n")
    PAGE.write_text("\n".join(page(results)) + "\n")


if __name__ == "__main__":
    main()
