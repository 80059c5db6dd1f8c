"""Our rules of ONNX's ops, by domain and op."""

from collections.abc import Iterable, Iterator
from types import ModuleType

from ipu_mlir.frontends.of_onnx import (
    array_rules,
    control_rules,
    fused_rules,
    label_rules,
    ml_rules,
    older_rules,
    quantized_rules,
    random_rules,
    recurrent_rules,
    reduction_rules,
    rules,
    sampling_rules,
    selecting_rules,
    sequence_rules,
    window_rules,
)
from ipu_mlir.frontends.of_onnx.rules import OnnxRule


def by_op(given: Iterable[OnnxRule]) -> dict[tuple[str, str], OnnxRule]:
    """``given`` in a dictionary; two of one op are an error."""
    table: dict[tuple[str, str], OnnxRule] = {}
    for each in given:
        for name in each.names:
            if table.setdefault((each.domain, name), each) is not each:
                raise ValueError(f"{name} of domain '{each.domain}' has two rules")
    return table


def rules_of(module: ModuleType) -> Iterator[OnnxRule]:
    """The rules that a module writes out, alone or in tuples of its own."""
    for value in vars(module).values():
        yield from (each for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, OnnxRule))


_MODULES = (
    *(array_rules, control_rules, fused_rules, label_rules, ml_rules, older_rules, quantized_rules, random_rules),
    *(recurrent_rules, reduction_rules, rules, sampling_rules, selecting_rules, sequence_rules, window_rules),
)
RULES = by_op(each for module in _MODULES for each in rules_of(module))
