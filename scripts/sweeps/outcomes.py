"""What becomes of many small programs of a framework: run one by one, kept in a file, and written as a page."""

import argparse
import json
import re
import subprocess
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ipu_mlir as ipu

DOCS = Path(__file__).parents[2] / "docs"
TARGET = ipu.Target(tiles_per_ipu=4)
AGREE, NOT_IMPORTED, REFUSED, WRONG, CRASHED = STATES = ("agree", "not imported", "refused", "wrong", "crashed")
NO_CASE = "no case"
_OF_IMPORTERS = (
    "that cannot be imported: ",
    "torch.export cannot export",
    "PyTorch cannot trace",
    "TensorFlow cannot compile",
)
"""What messages say of programs that the importers, or the framework itself, do not bring to MLIR."""
_TOLERANCES = {"bfloat16": 2**-6, "float16": 2**-9, "float32": 2e-5, "float64": 2e-5}
"""Relative, to the largest number of a result; frameworks round 16-bit numbers after every op, and we do not."""


class NotTaken(Exception):
    """The framework itself does not take a program; that is no case."""


@dataclass(frozen=True)
class Case:
    """A program.

    Attributes:
        name: of the case, unique.
        function: what it is about; a page has a row for it.
        module: the heading under which it stands.
        run: gives results of ours and those of the framework, as flat lists of arrays.
        tolerance: a factor for what is usual.
        together: whether results are measured by the largest of them all; some gradients are rounding alone.
        kind: of the inputs: results in a wider type have their rounding all the same.
    """

    name: str
    function: str
    module: str
    run: Callable[[], tuple[Sequence[Any], Sequence[Any]]]
    tolerance: float = 1.0
    together: bool = False
    kind: str = ""


def outcome(case: Case) -> tuple[str, str]:
    """What becomes of a case, and why."""
    try:
        found, expected = case.run()
    except NotTaken as error:
        return NO_CASE, str(error)[:400]
    except ipu.IpuError as error:
        text = " ".join(str(error).split())
        return NOT_IMPORTED if any(each in text for each in _OF_IMPORTERS) else REFUSED, text[:400]
    except Exception as error:  # of any kind: that is what is asked
        return CRASHED, f"{type(error).__name__}: {error}"[:400]
    if reason := difference(found, expected, case.tolerance, case.together, case.kind):
        return WRONG, reason
    return AGREE, ""


def difference(
    found: Sequence[Any], expected: Sequence[Any], tolerance: float = 1.0, together: bool = False, kind: str = ""
) -> str:
    """How results differ; nothing if they agree."""
    most = max((_largest(np.asarray(each)) for each in expected), default=0.0) if together else 0.0
    if len(found) != len(expected):
        return f"{len(found)} results for {len(expected)}"
    for one, other in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{one.dtype}{list(one.shape)} for {other.dtype}{list(other.shape)}"
        if other.dtype.kind in "biu" and str(other.dtype) not in _TOLERANCES:
            if not np.array_equal(one, other):
                return f"{int(np.sum(one != other))} of {other.size} elements differ"
            continue
        a, b = (each.astype(complex if other.dtype.kind == "c" else float) for each in (one, other))
        rtol = max(_TOLERANCES.get(str(other.dtype), 2**-2), _TOLERANCES.get(kind, 0.0)) * tolerance
        atol = rtol * max(most, _largest(b))
        if not np.allclose(a, b, rtol=rtol, atol=max(atol, 1e-7), equal_nan=True):
            with np.errstate(invalid="ignore"):
                return f"differs by {np.nanmax(np.abs(a - b)):.3g}: {a.ravel()[:4]} for {b.ravel()[:4]}"
    return ""


def _largest(array: np.ndarray) -> float:
    """The largest finite number."""
    numbers = np.abs(array.astype(complex if array.dtype.kind == "c" else float))
    return float(np.max(numbers, initial=0, where=np.isfinite(numbers)))


def run_all(cases: Callable[[], Sequence[Case]], document: str | None, title: str, head: str, name: str) -> None:
    """The command line of a sweep: runs cases that the file has no outcome of, and writes the page ``name``.

    A case that ends the process is one that crashed: it is begun in the file and has no outcome.
    """
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="file with the outcomes so far, a line of JSON each")
    parser.add_argument("--only", help="run those alone, and anew, whose name contains this")
    parser.add_argument(
        "--again", choices=(*STATES, NO_CASE), action="append", default=[], help="run those anew that ended so"
    )
    parser.add_argument("--page", action="store_true", help="run nothing, write the page of the outcomes so far")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    kept = read(arguments.results)
    everything = cases()
    if not arguments.worker:
        if arguments.page:
            (DOCS / name).write_text(page(title, head, everything, kept))
            return
        stale = {each for each, (state, _) in kept.items() if state in arguments.again}
        stale |= {each.name for each in everything if arguments.only and arguments.only in each.name}
        kept = {name: each for name, each in kept.items() if name not in stale}
        wanted = ["--only", arguments.only] if arguments.only else []
        arguments.results.write_text("".join(json.dumps([name, *each]) + "\n" for name, each in kept.items()))
        while missing(everything, kept := read(arguments.results)):
            command = [sys.executable, *sys.argv[:1], str(arguments.results), "--worker", *wanted]
            if subprocess.run(command).returncode == 0:
                break
        (DOCS / name).write_text(page(title, head, everything, read(arguments.results)))
        return
    warnings.simplefilter("ignore")
    with arguments.results.open("a") as out:
        for case in missing(everything, kept):
            if arguments.only and arguments.only not in case.name:
                continue
            out.write(json.dumps([case.name, CRASHED, "the process ended"]) + "\n")
            out.flush()
            out.write(json.dumps([case.name, *outcome(case)]) + "\n")
            out.flush()


def page(title: str, head: str, cases: Sequence[Case], kept: Mapping[str, tuple[str, str]]) -> str:
    """A page: counts by module, what is not as it should be with its reasons, and the functions that agree."""
    counts: dict[str, Counter[str]] = {}
    by_function: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for case in cases:
        state, reason = kept.get(case.name, (NO_CASE, ""))
        if state != NO_CASE:
            counts.setdefault(case.module, Counter())[state] += 1
            by_function.setdefault((case.module, case.function), []).append((state, reason))
    total = sum(counts.values(), Counter())
    lines = [f"# {title}", "", head, "", f"| | functions | cases | {' | '.join(STATES)} |", "|---" * 8 + "|"]
    for module, each in [*counts.items(), ("all", total)]:
        functions = sum(module in (found, "all") for found, _ in by_function)
        lines.append(f"| {module} | {functions:,} | {each.total():,} | {' | '.join(f'{each[s]:,}' for s in STATES)} |")
    share = total[AGREE] / max(1, total.total())
    left_out = f"; {total[NOT_IMPORTED]:,} of them do not come to MLIR" if total[NOT_IMPORTED] else ""
    lines += ["", f"Of {total.total():,} cases {total[AGREE]:,} agree: {share:.1%}{left_out}."]
    if left := len(missing(cases, kept)):
        lines += ["", f"{left:,} more cases have not been run."]
    lines += ["", "## What does not agree", "", "| reason | outcome | cases | functions |", "|---|---|---|---|"]
    lines += _reasons(by_function)
    lines += ["", "## What agrees in all cases", ""]
    for module in counts:
        names = [f for (m, f), found in by_function.items() if m == module and {s for s, _ in found} == {AGREE}]
        text = ", ".join(f"`{name}`" for name in sorted(names))
        wrapped = textwrap.wrap(f"**{module}**: {text}", 120, break_long_words=False, break_on_hyphens=False)
        lines += [*wrapped, ""]
    return "\n".join(lines).rstrip() + "\n"


def _reasons(by_function: Mapping[tuple[str, str], list[tuple[str, str]]]) -> list[str]:
    """A row for each reason and outcome, the most frequent first."""
    rows: dict[tuple[str, str], list[str]] = {}
    for (_, function), outcomes in by_function.items():
        for state, reason in outcomes:
            if state != AGREE:
                rows.setdefault((group(reason), state), []).append(function)
    ordered = sorted(rows.items(), key=lambda row: (STATES.index(row[0][1]), -len(row[1]), row[0]))
    return [
        f"| {reason} | {state} | {len(names)} | {', '.join(f'`{name}`' for name in sorted(set(names)))} |"
        for (reason, state), names in ordered
    ]


_GROUPS = (
    ("complex", "complex numbers"),
    ("lapack", "calls of LAPACK"),
    ("state that is not in the program", "numbers drawn from a state that is not in the program"),
    ("sizes are not all known", "sizes that depend on data"),
    ("depends on data", "sizes that depend on data"),
    ("not torch.int", "sizes that depend on data"),
    ("it asks for values of tensors", "the framework cannot trace what depends on values"),
    ("that cannot be imported: ", "an op has no rule"),
    ("changes argument", "writes to its arguments"),
    ("The function/graph was not", "the framework cannot export it"),
)
_OPS = re.compile(r"(?:failed to legalize operation|op) ?'?\"?((?:torch|stablehlo)\.[\w.]+)")
_BOUND = 90


def group(reason: str) -> str:
    """What reasons have in common."""
    reason = re.sub(r"^\S+:\d+: ", "", reason)  # the line of the function
    for sign, name in _GROUPS:
        if sign in reason:
            return name
    if found := _OPS.search(reason):
        return f"`{found[1]}` is not lowered"
    return reason.partition("error: ")[2][:_BOUND].replace("|", "/") or reason[:_BOUND].replace("|", "/")


def missing(cases: Iterable[Case], kept: Mapping[str, Any]) -> list[Case]:
    """Those that have no outcome."""
    return [case for case in cases if case.name not in kept]


def read(path: Path) -> dict[str, tuple[str, str]]:
    """The outcomes in a file; the last one of a case counts."""
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text().splitlines())
    return {name: (state, reason) for name, state, reason in lines}
