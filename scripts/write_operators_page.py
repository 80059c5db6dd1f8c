"""Write ``docs/tensorflow-operators.md``: of each operator and layer of the guide its tests, gradient and cost.

``python scripts/write_operators_page.py`` after an operator or a test was added; a test compares. Tests are the files
below ``test/e2e/guide`` that name the operator.
"""

import ast
import re
from pathlib import Path

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.tensorflow.guide.later import Row, rows
from ipu_mlir.tensorflow.library_options import APPLIED, WITHOUT_EFFECT_ON_MULTI_CONV

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tensorflow-operators.md"
CODELETS = {
    "nn_ops.ctc_beam_search_decoder": "ctc_beam_search",
    "nn_ops.ctc_beam_search_decoder_with_log_probs": "ctc_beam_search",
    "nn_ops.ctc_loss_v2": "ctc_loss",
    "nn_ops.ctc_loss_with_log_probs": "ctc_loss",
    "rand_ops.dropout": "random_uniform",
    "keras.layers.Dropout": "random_uniform",
}
"""Names for which a library codelet does the work."""
GRADIENTS = {
    "ctc_loss": "codelet `ctc_loss_gradient`",
    "ctc_beam_search": "none: integers and their scores",
    "random_uniform": "the mask, drawn again from the seed",
    "custom_ops.cpu_user_operation": "the function with `_grad` of the library",
    "custom_ops.precompiled_user_op": "the function with `_grad` of the file",
    "math_ops.serialized_matmul": "products in parts",
    "control_flow_ops.barrier": "the gradients, together if asked for",
    "embedding_ops.HostEmbedding": "rows that are added on the host",
    "embedding_ops.create_host_embedding": "rows that are added on the host",
    "internal_ops.fifo": "none",
    "internal_ops.get_current_iteration_counter": "none: an integer",
    "internal_ops.print_tensor": "none",
    "replication_ops.replication_index": "none: an integer",
    "statistics_ops.histogram": "none: counts",
    "statistics_ops.histogram_update": "by its operations, through `hist`",
}
"""By name or codelet; all others are differentiated as the operations that they consist of."""
COSTS = {
    "custom_ops.cpu_user_operation": "transfers to the host and back",
    "custom_ops.precompiled_user_op": "`Build_cycles` of the file",
    "internal_ops.print_tensor": "a transfer to the host",
    "embedding_ops.HostEmbedding": "transfers of rows",
    "embedding_ops.create_host_embedding": "transfers of rows",
}
"""By name; all others cost what their operations do, by costs.md."""
ELSEWHERE = ("pipelining_ops", "embedded_runtime", "application_compile_op")
TEXT = """# Operators of the guide: tests, gradients, costs

<!-- This page is written by python scripts/write_operators_page.py. -->

Functions of `ipu.ops` and layers of `ipu.keras.layers`; [tensorflow.md](tensorflow.md) has all names. Tests are in
`test/e2e/guide`. What stands as "operations" is made of operations that the compiler knows, with their derivatives
([gradients.md](gradients.md)) and their cycles ([costs.md](costs.md)).

| section | name | tests | gradient | source of the cost |
|---|---|---|---|---|
"""


ERRORS = """
## Largest errors

Against results of others in f64 on the same numbers, relative to the largest value; `test_operator_errors` holds them
to it. Losses of f16 are f32, and edges of bins are f16.

| name | against | f32 | f16 |
|---|---|---|---|
"""

OPTIONS = """
## Options of the libraries

`multi_conv(options=...)` and `poplar_options` of `IPUConfig` take those of convolutions; `perConvReservedTiles` and
`cycleBackOff` are of `multi_conv` alone. An option that has no effect is accepted, and the log says why; any other is
an error.

| option | what it does |
|---|---|
"""


def errors() -> dict[str, tuple[str, float, float]]:
    """By name what it was compared with, and the errors that the test allows."""
    tree = ast.parse((ROOT / "test" / "e2e" / "guide" / "test_operator_errors.py").read_text(encoding="utf-8"))
    tables = (each for each in tree.body if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "ERRORS")
    found: dict[str, tuple[str, float, float]] = ast.literal_eval(next(tables).value)
    return found


def operators() -> list[Row]:
    """The functions and layers of sections 21.14 and 21.15."""
    return [
        row
        for row in rows()
        if row.section.startswith(("21.14", "21.15"))
        and row.kind in ("function", "class")
        and not row.name.startswith(ELSEWHERE)
        and not row.name.endswith("Spec")
    ]


def tests_of(name: str) -> list[str]:
    """The files that name it, without their suffix."""
    short = re.compile(rf"\b{name.rpartition('.')[2]}\b")
    files = sorted((ROOT / "test" / "e2e" / "guide").rglob("*.py"))
    return [file.stem for file in files if short.search(file.read_text(encoding="utf-8"))]


def page() -> str:
    """The page as it should be."""
    lines = []
    for row in operators():
        codelet = CODELETS.get(row.name, "")
        gradient = GRADIENTS.get(row.name) or GRADIENTS.get(codelet) or "by its operations"
        cost = f"`{codelet}`: {codelet_named(codelet).source}" if codelet else COSTS.get(row.name, "operations")
        tests = ", ".join(f"`{each}`" for each in tests_of(row.name)[:3])
        lines.append(f"| {row.section} | `{row.name}` | {tests} | {gradient} | {cost} |\n")
    shown = [f"| `{name}` | {other} | {one:g} | {half:g} |\n" for name, (other, one, half) in errors().items()]
    idle = {name: f"no effect: {why}" for name, why in WITHOUT_EFFECT_ON_MULTI_CONV.items()}
    options = [f"| `{name}` | {what} |\n" for name, what in {**APPLIED, **dict(sorted(idle.items()))}.items()]
    return TEXT + "".join(lines) + ERRORS + "".join(shown) + OPTIONS + "".join(options)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
