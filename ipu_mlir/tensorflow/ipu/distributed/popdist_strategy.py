"""The strategy of replicas over processes (guide 21.10), for one process."""

from typing import Any

from ipu_mlir.tensorflow.ipu.distributed.collectives import refuse_several_processes
from ipu_mlir.tensorflow.ipu.ipu_strategy import IPUStrategy

__all__ = ["PopDistStrategy"]


class PopDistStrategy(IPUStrategy):
    """``IPUStrategy`` whose replicas are those of all processes: here, of one.

        strategy = ipu.distributed.popdist_strategy.PopDistStrategy()
        strategy.update_ipu_config(config).configure_ipu_system()

    Args:
        ipu_device: the device that functions run on.
        add_ipu_cross_replica_reductions: whether what TensorFlow reduces, as optimizers of Keras do with gradients, is
            combined over replicas.

    Raises:
        NotImplementedError: a runner has started several processes, each with replicas of its own.
    """

    def __init__(self, ipu_device: str = "/device:IPU:0", add_ipu_cross_replica_reductions: bool = True) -> None:
        refuse_several_processes("PopDistStrategy")
        super().__init__(ipu_device)
        self.reduces_over_replicas = add_ipu_cross_replica_reductions

    def update_ipu_config(self, config: Any) -> Any:
        """``config``, which says now that this process is number 0 of 1."""
        processes = config.experimental.multi_replica_distribution
        processes.process_index, processes.process_count = 0, 1
        return config
