"""Run models, each in a process of its own, and print a table of their costs.

python test/e2e/models/run.py [--only PART] [--results FILE]
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from models.check import Outcome, measure
from models.table import KNOWN_FAILURES, entries

RESULTS = Path(__file__).with_name("results.jsonl")
_SECONDS = 900


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models alone whose name contains this")
    parser.add_argument("--kind", help="forward or step alone")
    parser.add_argument("--missing", action="store_true", help="models alone that the file has no outcome of")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file with a line of JSON for each program")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "KIND"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        name, kind = given.one
        print(json.dumps(measure(entries()[name], kind).as_dict()))
        return 0
    return _run_all(given)


def _run_all(given: argparse.Namespace) -> int:
    kept = read(given.results)
    wrong = 0
    for entry in entries().values():
        for kind in entry.kinds:
            place = entry.name, kind
            if given.only not in entry.name or given.kind not in (None, kind) or (given.missing and place in kept):
                continue
            kept[place] = _in_a_child(*place)
            given.results.write_text("".join(json.dumps(each.as_dict()) + "\n" for each in kept.values()))
            problem = kept[place].problem(entry.tolerance[kind])
            known = KNOWN_FAILURES.get(place)
            is_right = problem == "" if known is None else known[0] in problem and problem != ""
            wrong += not is_right
            print(row(kept[place]), problem or "agrees", "(known)" if known else "", flush=True)
    return min(wrong, 1)


def row(outcome: Outcome) -> str:
    """The figures of a program, for a terminal."""
    errors = " ".join(f"{how} {each:.1e}" for how, each in outcome.errors.items())
    return (
        f"{outcome.name:40} {outcome.kind:8} {outcome.compile_seconds:6.1f} s {outcome.cycles:12,} cycles "
        f"{outcome.worst_bytes:9,} B  {errors}"
    )


def _in_a_child(name: str, kind: str) -> Outcome:
    """A model that ends its process, or never ends, is a failure like others."""
    command = [sys.executable, __file__, "--one", name, kind]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(name, kind, failure=f"takes longer than {_SECONDS} s")
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"name"')]
    if not lines:
        return Outcome(name, kind, failure=f"the process ended with {done.returncode}: {done.stderr[-400:]}")
    return Outcome(**json.loads(lines[-1]))


def read(path: Path) -> dict[tuple[str, str], Outcome]:
    """The outcomes in a file, by name and kind."""
    if not path.exists():
        return {}
    found = [Outcome(**json.loads(line)) for line in path.read_text().splitlines()]
    return {(each.name, each.kind): each for each in found}


if __name__ == "__main__":
    sys.exit(main())
