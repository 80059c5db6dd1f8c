"""The distribution strategy of several hosts (guide 21.9), for a cluster of one worker."""

from typing import Any

import tensorflow as tf
from tensorflow.python.distribute.distribute_lib import ReplicaContext
from tensorflow.python.distribute.one_device_strategy import OneDeviceExtended

__all__ = ["IPUMultiWorkerStrategy", "IPUMultiWorkerStrategyV1"]


class _Extended(OneDeviceExtended):
    """Names no device: a session of a cluster knows the host by another name than eager mode."""

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        kwargs.pop("colocate_with", None)
        return next_creator(**kwargs)

    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        with ReplicaContext(self._container_strategy(), replica_id_in_sync_group=0):
            return fn(*args, **kwargs)


class IPUMultiWorkerStrategy(tf.compat.v1.distribute.OneDeviceStrategy):  # pyright: ignore[reportGeneralTypeIssues]
    """Training in graph mode on the worker that the cluster has; what workers sum is what it has itself.

        strategy = ipu.ipu_multi_worker_strategy.IPUMultiWorkerStrategy(resolver)
        with tf.Graph().as_default(), strategy.scope():
            train = strategy.experimental_run_v2(compiled, args=[rate])

    Args:
        cluster_resolver: names the workers.
        ipu_device: where the worker's programs run.
        variables_on_host: without effect: variables of graphs belong to their sessions, and are on the device while a
            program runs.

    Raises:
        NotImplementedError: the cluster has several workers, which are processes of which each has a part of a batch.
    """

    def __init__(
        self, cluster_resolver: Any, ipu_device: str = "/device:IPU:0", variables_on_host: bool = False
    ) -> None:
        spec = cluster_resolver.cluster_spec().as_dict()
        workers = [address for job in ("chief", "worker") for address in spec.get(job, [])]
        if len(workers) > 1:
            raise NotImplementedError(
                f"IPUMultiWorkerStrategy: the cluster has {len(workers)} workers ({', '.join(workers)}), and all IPUs "
                "belong to one process here; name one worker, and let its programs have replicas "
                "(IPUConfig.auto_select_ipus)"
            )
        super(tf.compat.v1.distribute.OneDeviceStrategy, self).__init__(_Extended(self, "/device:CPU:0"))
        self.ipu_device = ipu_device

    def experimental_run_v2(self, *args: Any, **kwargs: Any) -> Any:
        """The former name of ``run``: what a function gives on the worker."""
        return self.run(*args, **kwargs)

    def update_config_proto(self, config_proto: Any) -> Any:
        """The configuration of the worker's sessions, as it is: there are no others to find."""
        return config_proto


IPUMultiWorkerStrategyV1 = IPUMultiWorkerStrategy
