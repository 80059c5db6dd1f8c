"""Write ``docs/onnx-node-tests.md``: what becomes of the node tests of the onnx package, op by op.

    python scripts/onnx_node_tests.py results.jsonl              those that it has no outcome of, and the page
    python scripts/onnx_node_tests.py results.jsonl --only topk  anew, those whose name contains it

The outcomes of cases are kept in the file, so that a run may be interrupted: all take about half an hour.
"""

import argparse
import json
import re
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

import ipu_mlir as ipu
from ipu_mlir.onnx_backend import Backend

PAGE = Path(__file__).parents[1] / "docs" / "onnx-node-tests.md"
OUTCOMES = ("agree", "refused", "wrong", "crashed")
TARGET = ipu.Target(tiles_per_ipu=4)
ROUNDINGS = {"bfloat16": 2**-6, "float16": 2**-9}
"""Relative tolerance of types of few bits, in which the reference rounds after every op."""
DRAWN = ("bernoulli", "training_dropout")
"""Names of cases that draw random numbers, which are no others' numbers."""


def outcome(case) -> tuple[str, str]:
    """What becomes of a case, and why."""
    try:
        program = Backend.prepare(case.model, target=TARGET)
        for inputs, expected in case.data_sets:
            found = program.run(inputs)
            if reason := difference(parts(found), list(map(array, parts(expected))), case):
                return "wrong", reason
    except ipu.IpuError as error:
        return "refused", " ".join(str(error).split())[:300]
    except Exception as error:
        return "crashed", f"{type(error).__name__}: {error}"[:300]
    return "agree", ""


def parts(results) -> list:
    """Results with the tensors of sequences."""
    return [part for each in results for part in (each if isinstance(each, list) else [each])]


def array(value) -> np.ndarray:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def difference(found, expected, case) -> str:
    """How results differ; nothing if they agree."""
    if len(found) != len(expected):
        return f"{len(found)} results for {len(expected)}"
    for one, other in zip(found, expected, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{one.dtype}{list(one.shape)} for {other.dtype}{list(other.shape)}"
        rtol = max(case.rtol, ROUNDINGS.get(str(other.dtype), 0))
        atol = max(case.atol, rtol * float(np.max(np.abs(other.astype(float)), initial=0)) / 100)
        if any(each in case.name for each in DRAWN) and "zero_ratio" not in case.name:
            continue
        if not np.allclose(one.astype(float), other.astype(float), rtol=rtol, atol=atol, equal_nan=True):
            return f"differs by {np.nanmax(np.abs(one.astype(float) - other.astype(float))):.3g}"
    return ""


def ops_of(model) -> str:
    """The op that a case is about: that of its name, which is the last of its nodes."""
    return model.graph.node[-1].op_type if len(model.graph.node) else "none"


def page(cases, results) -> str:
    """The page: a row for each op, and the reasons of those that do not agree."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        op = "functions of other ops" if "_expanded" in case.name else ops_of(case.model)
        if case.name in results:
            table[op][results[case.name][0]] += 1
    totals = sum(table.values(), Counter())
    lines = [
        "# Node tests of the onnx package",
        "",
        f"Written by `scripts/onnx_node_tests.py` with onnx {onnx.__version__}: {sum(totals.values()):,} of the "
        f"{len(cases):,} node tests of `onnx.backend.test`,",
        "run by the class `Backend` of `ipu_mlir.onnx_backend`. Of what draws random numbers, shapes and types alone",
        "are compared. Refused are text, images in files, and sequences as arguments. Wrong are two that put 2.4 rows",
        "between aligned corners, where onnxruntime puts 2 as we do.",
        "",
        "| outcome | cases | share |",
        "|---|---|---|",
        *(f"| {each} | {totals[each]:,} | {totals[each] / max(1, sum(totals.values())):.1%} |" for each in OUTCOMES),
    ]
    lines += ["", "## By op", "", f"| op | {' | '.join(OUTCOMES)} |", "|---" * (len(OUTCOMES) + 1) + "|"]
    lines += [f"| {op} | {' | '.join(str(table[op][each]) for each in OUTCOMES)} |" for op in sorted(table)]
    refused = sorted((name, reason) for name, (state, reason) in results.items() if state != "agree")
    lines += ["", "## Refused", "", "| case | reason |", "|---|---|"]
    lines += [f"| {name} | {short(reason)} |" for name, reason in refused]
    return "\n".join(lines) + "\n"


def short(reason: str) -> str:
    """Why a case is refused, in one row of a table, without the line of the script that an error is reported at."""
    return re.sub(r"^\S+:\d+:\d+: error: ", "", reason.rpartition("cannot be imported: ")[2])[:110].replace("|", "/")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--only", default=None, help="run those anew whose name contains this")
    parser.add_argument("--most", type=int, default=None, help="run at most so many")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = load_model_tests(kind="node")
    results: dict[str, tuple[str, str]] = {}
    if arguments.results.exists():
        for line in arguments.results.read_text().splitlines():
            name, state, reason = json.loads(line)
            results[name] = (state, reason)
    wanted = [case for case in cases if case.name not in results or (arguments.only and arguments.only in case.name)]
    with arguments.results.open("a") as kept:
        for case in wanted[: arguments.most]:
            results[case.name] = outcome(case)
            kept.write(json.dumps([case.name, *results[case.name]]) + "\n")
            kept.flush()
    PAGE.write_text(page(cases, results))


if __name__ == "__main__":
    main()
