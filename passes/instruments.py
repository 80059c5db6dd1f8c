"""What can be seen of passes while they run: the IR in between, and where the time went."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.printing import to_text
from ipu_mlir.passes.manager import PassTime


@dataclass(frozen=True)
class IrPrinter:
    """Gives ``write`` the IR before and after passes, under a line that says which; ``None`` stands for all passes."""

    write: Callable[[str], object]
    before: Collection[str] | None = ()
    after: Collection[str] | None = ()
    large_elements_limit: int | None = None

    def before_pass(self, name: str, op: ir.Operation) -> None:
        """Write ``op`` if the IR before pass ``name`` is wanted."""
        if self.before is None or name in self.before:
            self._dump(f"Before {name}", op)

    def after_pass(self, name: str, op: ir.Operation) -> None:
        """Write ``op`` if the IR after pass ``name`` is wanted."""
        if self.after is None or name in self.after:
            self._dump(f"After {name}", op)

    def _dump(self, title: str, op: ir.Operation) -> None:
        text = to_text(op, large_elements_limit=self.large_elements_limit)
        self.write(f"// -----// IR Dump {title} //----- //\n{text}\n")


def timing_report(times: Iterable[PassTime]) -> str:
    """A table of wall times, one row per name in the order of first runs, with the runs added up.

    >>> print(timing_report([PassTime("cse", 0.002), PassTime("verify", 0.001), PassTime("cse", 0.001)]))
    ===-------------------------------------------------------------------------===
                             ... Execution time report ...
    ===-------------------------------------------------------------------------===
      Total Execution Time: 0.0040 seconds
    <BLANKLINE>
      ----Wall Time----  ----Runs----  ----Name----
        0.0030 ( 75.0%)             2  cse
        0.0010 ( 25.0%)             1  verify
        0.0040 (100.0%)             3  Total
    <BLANKLINE>
    """
    sums: dict[str, tuple[float, int]] = {}
    for name, seconds in times:
        so_far, runs = sums.get(name, (0.0, 0))
        sums[name] = (so_far + seconds, runs + 1)
    total = sum(seconds for seconds, _ in sums.values())
    sums["Total"] = (total, sum(runs for _, runs in sums.values()))
    rule = "===" + 73 * "-" + "==="
    rows = [
        f"  {seconds:8.4f} ({100 * seconds / total if total else 100:5.1f}%)  {runs:12}  {name}"
        for name, (seconds, runs) in sums.items()
    ]
    head = [rule, f"{'... Execution time report ...':>54}", rule, f"  Total Execution Time: {total:.4f} seconds", ""]
    return "\n".join([*head, "  ----Wall Time----  ----Runs----  ----Name----", *rows, ""])
