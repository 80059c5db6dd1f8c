"""The programs, by name."""

from benchmarks.beside import norms, orders, products, science, sequences
from benchmarks.beside.case import Case

CASES: dict[str, Case] = {
    case.name: case for module in (norms, sequences, orders, products, science) for case in module.CASES
}
