"""Models of Keras for the IPU (first edition of the guide, 4.3), and its layers (21.14)."""

from ipu_mlir.tensorflow.guide.lazily import lazily

_STAGES = (
    "FunctionalLayerPipelineStageAssignment",
    "ModelLayerPipelineStageAssignment",
    "PipelineModel",
    "PipelineSequential",
    "PipelineStage",
    "SequentialLayerPipelineStageAssignment",
)
__getattr__, __dir__ = lazily(
    __name__,
    {"Model": "models", "Sequential": "models", "layers": "layers", **dict.fromkeys(_STAGES, "pipelined_models")},
)
