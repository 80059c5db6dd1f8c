"""The strategy whose processes reduce on their hosts (guide 21.10), for one process."""

from ipu_mlir.tensorflow.ipu.distributed.collectives import refuse_several_processes
from ipu_mlir.tensorflow.ipu.ipu_strategy import IPUStrategy

__all__ = ["IPUHorovodStrategy"]


class IPUHorovodStrategy(IPUStrategy):
    """``IPUStrategy`` that combines nothing over replicas: hosts do, over processes, of which there is one.

    Args:
        ipu_device: the device that functions run on.
        variables_on_host: without effect: TensorFlow has variables whenever it asks for them.

    Raises:
        NotImplementedError: a runner has started several processes.
    """

    reduces_over_replicas = False

    def __init__(self, ipu_device: str = "/device:IPU:0", variables_on_host: bool = False) -> None:
        refuse_several_processes("IPUHorovodStrategy")
        super().__init__(ipu_device)
