"""Imports point down, from folder to folder; passes and runtime are apart. MLIR comes in at one place."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAY_IMPORT = {
    "dialects": {"dialects"},
    "passes": {"passes", "dialects"},
    "runtime": {"runtime", "dialects"},
    "ipu_mlir": {"ipu_mlir", "passes", "runtime", "dialects"},
    "tools": {"tools", "ipu_mlir", "passes", "runtime", "dialects"},
}
ROOMS = (
    "dialects/support",
    "dialects/storage",
    "dialects/mapping",
    "dialects/machine",
    "dialects/attributes",
    "dialects/analysis",
    "dialects/analysis/program",
    "dialects/codelets",
    "dialects/ops",
    "dialects/costs",
    "dialects",
    "dialects/memory",
    "passes/core",
    "passes/support",
    "passes/importing/stablehlo",
    "passes/importing/stablehlo/scatters",
    "passes/importing/stablehlo/sorts",
    "passes/importing/bounded",
    "passes/importing",
    "passes/normalize/folding",
    "passes/normalize/indices",
    "passes/normalize",
    "passes/autodiff",
    "passes/programs/assignments",
    "passes/pipelining",
    "passes/programs",
    "passes/raising/scans",
    "passes/raising/loops",
    "passes/raising/ranks",
    "passes/raising/matrices",
    "passes/raising/elements",
    "passes/raising",
    "passes/placement/preparation",
    "passes/placement/shards",
    "passes/placement/planner",
    "passes/placement/partition",
    "passes/placement",
    "passes/supersteps/checks",
    "passes/supersteps",
    "passes/host",
    "passes/host/replicas",
    "passes/host/iterations",
    "passes",
    "runtime/numeric",
    "runtime/translator/statements",
    "runtime/translator/optimize",
    "runtime/translator/importing",
    "runtime/translator/optimize/reductions",
    "runtime/translator/codegen",
    "runtime/translator/kernels/scalar",
    "runtime/translator/kernels",
    "runtime/translator/kernels/matrices",
    "runtime/translator/codegen/emit",
    "runtime/translator",
    "runtime/engine",
    "runtime/per_tile/scalar",
    "runtime/per_tile/memory",
    "runtime/per_tile/vertices",
    "runtime/per_tile/program",
    "runtime/per_tile",
    "runtime/profile",
    "runtime",
    "ipu_mlir/specs",
    "ipu_mlir/tracing",
    "ipu_mlir/tracing/elements",
    "ipu_mlir/tracing/control",
    "ipu_mlir/tracing/functions",
    "ipu_mlir/tracing/batching",
    "ipu_mlir/tracing/surface",
    "ipu_mlir/inspect",
    "ipu_mlir/programs",
    "ipu_mlir/frontends/support",
    "ipu_mlir/frontends/aten",
    "ipu_mlir/frontends/aten/mathematics",
    "ipu_mlir/frontends/of_jax",
    "ipu_mlir/frontends/of_tensorflow",
    "ipu_mlir/frontends/of_torch",
    "ipu_mlir/frontends/of_onnx",
    "ipu_mlir/frontends",
    "ipu_mlir/optimizers",
    "ipu_mlir/compilation",
    "ipu_mlir/tensorflow/guide",
    "ipu_mlir/tensorflow",
    "ipu_mlir/tensorflow/applications",
    "ipu_mlir/tensorflow/pipelines",
    "ipu_mlir/tensorflow/keras",
    "ipu_mlir/tensorflow/ipu/ops",
    "ipu_mlir/tensorflow/ipu",
    "ipu_mlir/tensorflow/ipu/estimators",
    "ipu_mlir/tensorflow/ipu/distributed",
    "ipu_mlir/tensorflow/ipu/data/ops",
    "ipu_mlir/tensorflow/ipu/data",
    "ipu_mlir/tensorflow/ipu/keras",
    "ipu_mlir/tensorflow/ipu/optimizers",
    "ipu_mlir",
    "ipu_mlir/layers",
    "ipu_mlir/stages",
    "tools/lsp",
    "tools/report",
    "tools/sweep",
    "tools",
)
"""Every folder of modules, in an order in which each imports only from itself and from those before it."""
MLIR_PACKAGES = ("torch_mlir", "mlir", "jaxlib", "iree")
BINDINGS = ROOT / "dialects" / "support" / "bindings.py"
SHARDY = ROOT / "ipu_mlir" / "frontends" / "of_jax" / "meshes.py"
"""Runs JAX's partitioner, in JAX's own bindings; its program comes out as text."""


@dataclass(frozen=True)
class Import:
    """``module`` imports ``target``; ``typing_only`` if only type checkers run the line."""

    module: str
    target: str
    line: int
    typing_only: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def module_name(path: Path) -> str:
    """``dialects/mapping/parts.py`` -> ``ipu_mlir.dialects.mapping.parts``."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    parts = parts if parts[0] == "ipu_mlir" else ["ipu_mlir", *parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for layer in MAY_IMPORT for path in sorted((ROOT / layer).rglob("*.py"))}


def imports_of(module: str, tree: ast.Module) -> Iterator[Import]:
    """Every import in the file, also those inside functions."""
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports by a relative name; write the full one"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            targets = [name if name in FILES else str(node.module) for name in whole]
        else:
            continue
        for target in targets:
            yield Import(module, target, node.lineno, id(node) in typing_only)


IMPORTS = [
    found
    for module, path in FILES.items()
    for found in imports_of(module, ast.parse(path.read_text(), filename=str(path)))
]


def layer_of(module: str) -> str:
    """The folder that a module of the project lies in."""
    return FILES[module].relative_to(ROOT).parts[0]


def test_every_layer_has_modules():
    assert {layer_of(module) for module in FILES} == set(MAY_IMPORT)


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_imports_point_down(layer):
    wrong = [
        str(found)
        for found in IMPORTS
        if layer_of(found.module) == layer and found.target in FILES and layer_of(found.target) not in MAY_IMPORT[layer]
    ]
    assert not wrong, f"{layer} may import from {sorted(MAY_IMPORT[layer])} only"


def room_of(module: str) -> str:
    """The folder that a module lies in, as ``ROOMS`` has it; what a report advises is part of the report."""
    return FILES[module].parent.relative_to(ROOT).as_posix().removesuffix("/advice")


def test_every_folder_is_a_room():
    assert {room_of(module) for module in FILES} == set(ROOMS)


def test_rooms_are_small():
    crowded = {room: n for room, n in Counter(map(room_of, FILES)).items() if n >= 25}
    assert not crowded, "a folder of fewer than 25 files is read at a glance; give what belongs together a room"


def test_imports_point_to_earlier_rooms():
    place = {room: number for number, room in enumerate(ROOMS)}
    wrong = [
        str(found)
        for found in IMPORTS
        if found.target in FILES
        and not found.typing_only
        and place[room_of(found.module)] < place[room_of(found.target)]
    ]
    assert not wrong, "a module imports from its own room and from those before it"


def test_imports_of_the_project_exist():
    missing = [
        str(found) for found in IMPORTS if found.target.split(".")[0] == "ipu_mlir" and found.target not in FILES
    ]
    assert not missing


def test_no_second_names():
    """``import dialects.x`` would be another module than ``ipu_mlir.dialects.x``, with classes of its own."""
    short = set(MAY_IMPORT) - {"ipu_mlir"}
    assert not [str(found) for found in IMPORTS if found.target.split(".")[0] in short]


def test_mlir_is_imported_in_one_place():
    wrong = [
        str(found)
        for found in IMPORTS
        if found.target.split(".")[0] in MLIR_PACKAGES and FILES[found.module] not in (BINDINGS, SHARDY)
    ]
    assert not wrong, "take ir, ext, rewrite and upstream(...) from ipu_mlir.dialects.support.bindings"


def test_nobody_else_asks_who_provides_mlir():
    assert [module for module, path in FILES.items() if "PROVIDER" in path.read_text()] == [
        module_name(each) for each in (BINDINGS, BINDINGS.with_name("provider.py"))
    ]


def test_no_circular_imports():
    graph: dict[str, set[str]] = {module: set() for module in FILES}
    for found in IMPORTS:
        if not found.typing_only and found.target in FILES and found.target != found.module:
            graph[found.module].add(found.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"these modules import each other in a circle: {' -> '.join(reversed(error.args[1]))}")


SCF_ITSELF = {
    "dialects/analysis/control_flow.py",  # the table
    "dialects/costs/scalar_ops.py",  # in bodies, which have no flows of tensors
    "ipu_mlir/compilation/supported_ops.py",  # ops that are not supported
    "ipu_mlir/tracing/batching/control.py",  # what each op is for a batch
    "passes/autodiff/control_rules.py",  # what each op is backwards
    "passes/autodiff/counted_whiles.py",  # writes one as the other
    "passes/host/iterations/batch_iterations.py",  # does without it
    "passes/importing/carried_sizes.py",  # gives loops and branches other types
    "passes/importing/stablehlo/convert_control_flow.py",  # makes them
    "passes/pipelining/slot_loop.py",  # makes them
    "passes/placement/delay_enqueues.py",  # lets loops carry more
    "passes/placement/preparation/branch_switches.py",  # writes one as the other
    "runtime/per_tile/program/control_flow.py",  # how each op runs
    "runtime/per_tile/vertices/body.py",
    "runtime/translator/importing/read_control.py",
    "runtime/translator/importing/read_region.py",
    "runtime/translator/kernels/control.py",  # writes it
    "runtime/translator/kernels/kernel_function.py",
    "runtime/translator/kernels/scalar/wide_functions.py",
    "runtime/translator/entry_module.py",  # writes what runs
}


def test_control_flow_is_asked_for_in_one_place():
    """What a loop carries is a question to ``analysis.control_flow``: another region op is one row there."""
    names = {path.relative_to(ROOT).as_posix() for path in FILES.values() if '"scf.' in path.read_text()}
    raising = {name for name in names if name.startswith("passes/raising/")}
    assert names - raising == SCF_ITSELF
