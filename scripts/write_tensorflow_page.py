"""Write the table of ``docs/tensorflow.md``: every name of the guide, and whether ``ipu_mlir.tensorflow.ipu`` has it.

``python scripts/write_tensorflow_page.py`` after a name was added; a test compares. It needs TensorFlow. The names and
their signatures are in ``ipu_mlir/tensorflow/guide/names.tsv``.
"""

import inspect
from pathlib import Path
from typing import Any

from ipu_mlir.tensorflow import ipu
from ipu_mlir.tensorflow.guide.later import Row, is_later, rows
from ipu_mlir.tensorflow.guide.option_tree import Category

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "tensorflow.md"
MARK = "<!-- This table is written by python scripts/write_tensorflow_page.py. -->\n"
OPTIONS = {
    "allow_recompute": "gradients compute forward ops again; stages of pipelines as `recomputation_mode` says",
    "auto_select_ipus": "devices, and IPUs of each",
    "select_ipus": "devices by the listing",
    "compilation_poplar_options": "`autoReport`: profile and page of each program; the log says why others do nothing",
    "gcl_poplar_options": "no effect, as the log says",
    "serialization_output_folder": "folder of executables, which are loaded instead of compiled",
    "convolutions.poplar_options": "`availableMemoryProportion`, `partialsType`; the log says why others do nothing",
    "matmuls.poplar_options": "`availableMemoryProportion`, `partialsType`; the log says why others do nothing",
    "pooling.poplar_options": "`partialsType`; the log says why others do nothing",
    "slices.poplar_options": "`partialType`; the log says why others do nothing",
    "experimental.enable_remote_buffer_embedding": "host embeddings lie beside the chips, where replicas share them",
    "io_tiles.num_io_tiles": "tiles for data of the host only",
    "io_tiles.place_ops_on_io_tiles": "checked",
    "io_tiles.available_memory_proportion": "share of their memory that such data may take",
    "floating_point_behaviour.inv": "an operation without a result ends the run, with its line",
    "floating_point_behaviour.div0": "a division by zero ends the run, with its line",
    "floating_point_behaviour.oflo": "a result that is too large ends the run, with its line",
    "floating_point_behaviour.esr": "float16 and bfloat16 are rounded at random",
    "floating_point_behaviour.nanoo": "float16 beyond 65504 is NaN; without it 65504, if another of these is set",
    "floating_point_behaviour.set_all": "all of them",
    "ipu_model.compile_ipu_code": "no effect: the simulator runs no code of the device",
    "ipu_model.tiles_per_ipu": "tiles of the machine",
    "ipu_model.version": "kind of the machine",
    "device_connection.version": "kind of the machine, of the types that need it",
    "device_connection.type": "`PRE_COMPILE` gives zeros, `NEVER` refuses to run",
    "experimental.multi_replica_distribution.process_index": "checked",
    "experimental.multi_replica_distribution.process_count": "checked",
    "norms.experimental.distributed_batch_norm_replica_group_size": "norms of Keras",
    "optimizations.maximum_cross_replica_sum_buffer_size": "bytes of sums and means over replicas that have one sync",
    "optimizations.maximum_reduce_scatter_buffer_size": "bytes of reduce-scatters that have one sync",
    "optimizations.maximum_all_gather_buffer_size": "bytes of gathers that have one sync",
    "optimizations.maximum_inter_ipu_copies_buffer_size": "bytes of copies between IPUs that have one sync",
    "optimizations.maximum_reduce_many_buffer_size": "no effect: independent ones share a superstep anyway",
    "optimizations.maximum_send_recv_cluster_size": "no effect: a program waits for each call of the host",
    "optimizations.merge_infeed_io_copies": "no effect: the tensors of an element come with one sync",
    "optimizations.prefetch_data_streams": "no effect: queues fetch as many elements ahead as they say themselves",
    "optimizations.enable_graph_outlining": "layers that are alike are one function",
    "optimizations.merge_remote_buffers": "which offloaded variables of one form become rows of one buffer",
    "optimizations.minimum_remote_tensor_size": "smallest variable of an optimizer that is offloaded",
    "optimizations.enable_fast_math": "another name of `optimizations.math.fast`",
}
"""What an option does, or why it does nothing.

All others have no effect: what they choose between, the compiler decides here by itself.
"""


def found(row: Row) -> Any:
    """What ``ipu`` has of that name; None if it has none."""
    value: Any = ipu
    for name in row.name.split("."):
        if value is ipu.config.IPUConfig and name in value():
            value = value()
        value = _attribute(value, name)
        if value is None:
            return None
    return value


def _attribute(value: Any, name: str) -> Any:
    if isinstance(value, Category):
        return (
            _Option if name in value and not isinstance(getattr(value, name), Category) else getattr(value, name, None)
        )
    if name in getattr(value, "__dataclass_fields__", ()):
        return value.__dataclass_fields__[name]
    return inspect.getattr_static(value, name, None) if isinstance(value, type) else getattr(value, name, None)


class _Option:
    """Stands for an option."""


def state(row: Row) -> str:
    """Whether a name is there, and what is different."""
    if row.kind == "config option":
        return OPTIONS.get(row.name.removeprefix("config.IPUConfig."), "no effect")
    value = found(row)
    if is_later(value):
        return "later"
    text = inspect.getdoc(value) or ""
    return "there, but for what its docstring says it refuses" if "NotImplementedError" in text else "there"


def table() -> str:
    """A row for each name."""
    lines = [f"| {row.section} | `{row.name}` | {row.kind} | {state(row)} |\n" for row in rows()]
    return "\n| section | name | kind | state |\n|---|---|---|---|\n" + "".join(lines)


def with_table(page: str) -> str:
    """``page`` with the table as it should be, at its end."""
    return page.partition(MARK)[0] + MARK + table()


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
