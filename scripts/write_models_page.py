"""Write the table of ``docs/models.md`` from the results of ``make models``."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "test" / "e2e" / "models" / "results.jsonl"
BEGIN, END = "<!-- table: scripts/write_models_page.py -->\n", "<!-- end of table -->"
_KERNELS = ("auto", "always", "never")


def with_table(page: str) -> str:
    """``page`` with the table of the results that are kept."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


def table() -> str:
    """A row for each program: differences, time of compiling, cycles of a run, bytes of the fullest tile."""
    rows = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    lines = ["| model | program | error | per tile | compile s | cycles | fullest tile, bytes |", "|---" * 7 + "|"]
    lines += [_row(**row) for row in rows if not row["failure"]]
    failures = [row for row in rows if row["failure"]]
    if failures:
        lines += ["", "| model | program | does not compile, because |", "|---|---|---|"]
        lines += [f"| {row['name']} | {row['kind']} | {_reason(row['failure'])} |" for row in failures]
    return "\n" + "\n".join(lines) + "\n\n"


def _row(
    name: str, kind: str, errors: dict[str, float], compile_seconds: float, cycles: int, worst_bytes: int, failure: str
) -> str:
    worst = max(errors[how] for how in _KERNELS)
    per_tile = f"{errors['per tile']:.0e}" if "per tile" in errors else ""
    return f"| {name} | {kind} | {worst:.0e} | {per_tile} | {compile_seconds:.1f} | {cycles:,} | {worst_bytes:,} |"


def _reason(failure: str) -> str:
    """The message without its class and place, short enough for a row."""
    text = failure.partition(": ")[2].replace("|", "/")
    return text.rpartition("error: ")[2][:160]


if __name__ == "__main__":
    path = ROOT / "docs" / "models.md"
    path.write_text(with_table(path.read_text()))
