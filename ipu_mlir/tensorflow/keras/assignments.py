"""Which stage of a pipeline each call of a layer belongs to: one assignment for each call."""

from collections.abc import Sequence
from typing import Any


class SequentialLayerPipelineStageAssignment:
    """The pipeline stage of a layer of a ``Sequential`` model.

    Attributes:
        layer: the layer.
        pipeline_stage: its stage; None while it has none.
    """

    def __init__(self, layer: Any, pipeline_stage: int | None = None) -> None:
        self._layer, self.pipeline_stage = layer, pipeline_stage

    @property
    def layer(self) -> Any:
        """The layer."""
        return self._layer

    @property
    def is_nested_model(self) -> bool:
        """False: a model inside a model belongs to one stage."""
        return False

    def __str__(self) -> str:
        return f"Layer: {self.layer.name} is assigned to pipeline stage: {self.pipeline_stage}"


class ModelLayerPipelineStageAssignment(SequentialLayerPipelineStageAssignment):
    """The pipeline stage of one call of a layer in a subclass of ``Model``.

    Attributes:
        node_index: the number of the call among those of the layer.
    """

    def __init__(self, layer: Any, node_index: int, pipeline_stage: int | None = None) -> None:
        super().__init__(layer, pipeline_stage)
        self._node_index = node_index

    @property
    def node_index(self) -> int:
        """The number of the call among those of the layer."""
        return self._node_index

    @property
    def inbound_layers(self) -> list[Any]:
        """The layers whose results this call takes."""
        return [node.operation for node in self.layer._inbound_nodes[self.node_index].parent_nodes]

    def __str__(self) -> str:
        return (
            f"Layer: {self.layer.name} (node index {self.node_index}) is assigned to pipeline stage: "
            f"{self.pipeline_stage}"
        )


class FunctionalLayerPipelineStageAssignment(ModelLayerPipelineStageAssignment):
    """The pipeline stage of one call of a layer in a functional model."""


def check_sequential(layers: Sequence[Any], stages: Sequence[int | None]) -> None:
    """Check the stages of layers that run one after another: from 0, each that of the layer before or the next one.

    Raises:
        ValueError: they are not so.
    """
    before = 0
    for layer, stage in zip(layers, stages, strict=True):
        if stage is None:
            raise ValueError(f"Layer {layer.name} has not been assigned a pipeline stage.")
        if layer is layers[0] and stage != 0:
            raise ValueError(
                "The first layer in a pipelined sequential model needs to be assigned to the 0th pipeline stage, "
                f"however it was assigned to {stage}."
            )
        if stage not in (before, before + 1):
            raise ValueError(
                f"Layer {layer.name} has been assigned to pipeline stage {stage}, however the previous layer in the "
                f"Sequential model was assigned to pipeline stage {before}. A layer in a Sequential model can only be "
                "assigned to the same pipeline stage as the previous layer or to the next one."
            )
        before = stage


def check_graph(nodes: Sequence[Any], inputs: Sequence[Any], stages: Sequence[int | None]) -> None:
    """Check the stages of calls of layers: all numbers from 0, and no call before those whose results it takes.

    Args:
        nodes: the calls, in an order in which they can run.
        inputs: tensors that are there from the beginning.

    Raises:
        ValueError: they are not so.
    """
    for node, stage in zip(nodes, stages, strict=True):
        if stage is None:
            raise ValueError(
                "All layers of a pipelined model must have an associated pipeline stage. However, "
                f"{node.operation.name} has not been assigned to one. Pipeline stages can be assigned when a layer is "
                "constructed, or each time a layer is called. Different pipeline stages can be assigned to each call."
            )
    numbers = [stage for stage in stages if stage is not None]
    given = sorted(set(numbers))
    missing = sorted(set(range(given[-1] + 1)) - set(given))
    if missing or given[0] < 0:
        raise ValueError(
            f"Pipeline stages in the graph need to be strictly increasing, found pipeline stages "
            f"{', '.join(map(str, given))}, however the following pipeline stages are missing "
            f"{', '.join(map(str, missing))}."
        )
    found = {id(each): -1 for each in inputs}
    for node, stage in zip(nodes, numbers, strict=True):
        for each in node.input_tensors:
            if found.get(id(each), -1) > stage:
                raise ValueError(
                    f"Layer {node.operation.name} in pipeline stage {stage} has a dependency from a pipeline stage "
                    "which has not yet executed. Layers can only use outputs from current or previous pipeline stages."
                )
        found.update((id(each), stage) for each in node.outputs)


def summary(assignments: Sequence[Any], line_length: int) -> list[str]:
    """A table of layers, what they take, and their stages, as lines."""
    with_calls = bool(assignments) and isinstance(assignments[0], ModelLayerPipelineStageAssignment)
    if with_calls:
        header, ends = ("Layer (type) (node index)", "Input Layers", "Pipeline Stage"), (0.4, 0.8, 1.0)
    else:
        header, ends = ("Layer (type)", "Pipeline Stage"), (0.5, 1.0)
    rows = []
    for each in assignments:
        name = f"{each.layer.name} ({type(each.layer).__name__})"
        if not with_calls:
            rows.append((name, str(each.pipeline_stage)))
            continue
        taken = [layer.name for layer in each.inbound_layers] or [""]
        rows.append((f"{name} ({each.node_index})", taken[0], str(each.pipeline_stage)))
        rows += [("", other, "") for other in taken[1:]]
    starts = [0, *(int(line_length * end) for end in ends)]

    def line(row: Sequence[str]) -> str:
        text = ""
        for field, start, end in zip(row, starts, starts[1:], strict=False):
            text = f"{text[: start - 1]:{start}}{field}"[:end] if start else field[:end]
        return text.rstrip()

    return ["_" * line_length, line(header), "=" * line_length, *map(line, rows), "_" * line_length]
