"""Configuration of estimators (guide 21.13.3)."""

from typing import Any, NamedTuple

import tensorflow as tf

from ipu_mlir.tensorflow.ipu.config import IPUConfig

__all__ = ["IPURunConfig", "RunConfig"]

_DEFAULTS: dict[str, Any] = {
    "model_dir": None,
    "tf_random_seed": None,
    "save_summary_steps": 100,
    "save_checkpoints_steps": None,
    "save_checkpoints_secs": None,
    "session_config": None,
    "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000,
    "log_step_count_steps": 100,
    "train_distribute": None,
    "device_fn": None,
    "protocol": None,
    "eval_distribute": None,
    "experimental_distribute": None,
    "experimental_max_worker_delay_secs": None,
    "session_creation_timeout_secs": 7200,
    "checkpoint_save_graph_def": True,
}
"""Options of ``tf.estimator.RunConfig``, which TensorFlow has no longer."""
_SECONDS = 600
"""Between checkpoints, where nothing is said of them."""


class _Run(NamedTuple):
    iterations_per_loop: int = 1
    ipu_options: IPUConfig | None = None
    num_replicas: int = 1
    num_shards: int = 1
    ordinal: int = 0
    prefetch_depth: int | None = None


class IPURunConfig(_Run):
    """The options of one run on the device.

    Attributes:
        iterations_per_loop: mini-batches that a loop of the device takes before Python goes on.
        ipu_options: the configuration of the system; of as many IPUs as needed, if there is none.
        num_replicas: of a program, each with batches of its own.
        num_shards: IPUs of a replica.
        ordinal: of the device.
        prefetch_depth: how many elements of the dataset may wait.
    """

    def __new__(
        cls,
        iterations_per_loop: int = 1,
        ipu_options: IPUConfig | None = None,
        num_replicas: int = 1,
        num_shards: int = 1,
        ordinal: int = 0,
        prefetch_depth: int | None = None,
    ) -> "IPURunConfig":
        """Check and keep them.

        Raises:
            ValueError: a number is out of range, or ``ipu_options`` is no ``IPUConfig``.
        """
        for name, least in (("iterations_per_loop", 1), ("num_replicas", 1), ("num_shards", 1), ("ordinal", 0)):
            value = locals()[name]
            if type(value) is not int or value < least:
                raise ValueError(f"{name} must be a number from {least}, got {value!r}")
        if ipu_options is not None and not isinstance(ipu_options, IPUConfig):
            raise ValueError(f"ipu_options must be an IPUConfig, got {ipu_options!r}")
        return super().__new__(cls, iterations_per_loop, ipu_options, num_replicas, num_shards, ordinal, prefetch_depth)


class RunConfig:
    """The options of an estimator: an ``IPURunConfig``, and those that ``tf.estimator.RunConfig`` had.

        RunConfig(IPURunConfig(iterations_per_loop=100), model_dir="model", save_checkpoints_steps=1000)

    Those of several processes (``train_distribute``, ``eval_distribute``, ``experimental_distribute``, ``device_fn``,
    ``protocol``) have no effect. The cluster is that of the environment variable ``TF_CONFIG``.
    """

    def __init__(self, ipu_run_config: IPURunConfig | None = None, master: str | None = None, **kwargs: Any) -> None:
        """Keep the options.

        Raises:
            TypeError: an option is unknown.
            ValueError: both steps and seconds between checkpoints are given.
        """
        if unknown := sorted(kwargs.keys() - _DEFAULTS.keys()):
            raise TypeError(f"RunConfig has no option {unknown[0]!r}; its options: {', '.join(sorted(_DEFAULTS))}")
        self._options = {**_DEFAULTS, **kwargs}
        if None not in (self._options["save_checkpoints_steps"], self._options["save_checkpoints_secs"]):
            raise ValueError("give save_checkpoints_steps or save_checkpoints_secs, not both")
        if not {"save_checkpoints_steps", "save_checkpoints_secs"} & kwargs.keys():
            self._options["save_checkpoints_secs"] = _SECONDS
        self._resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        self._master = master
        self.ipu_run_config = ipu_run_config

    def __getattr__(self, name: str) -> Any:
        options = self.__dict__.get("_options", {})
        if name not in options:
            raise AttributeError(f"RunConfig has no option {name!r}")
        return options[name]

    @property
    def cluster_spec(self) -> tf.train.ClusterSpec:
        """The cluster, empty if there is none."""
        return self._resolver.cluster_spec()

    @property
    def task_type(self) -> str:
        """What this process is in the cluster; ``worker`` without one."""
        return self._resolver.task_type or "worker"

    @property
    def task_id(self) -> int:
        """The number of this process among those of its type."""
        return self._resolver.task_id or 0

    @property
    def is_chief(self) -> bool:
        """True if this process writes checkpoints."""
        jobs = self.cluster_spec.jobs
        first = next((each for each in ("chief", "master") if each in jobs), "worker")
        return self.task_type == first and self.task_id == 0

    @property
    def master(self) -> str:
        """The address of this process for sessions; empty without a cluster."""
        if self._master is not None:
            return self._master
        return f"grpc://{self._resolver.master()}" if self.cluster_spec.jobs else ""

    @property
    def evaluator_master(self) -> str:
        """The address that evaluation uses: that of this process alone."""
        return ""

    @property
    def num_ps_replicas(self) -> int:
        """The number of parameter servers."""
        return self._number_of("ps")

    @property
    def num_worker_replicas(self) -> int:
        """The number of workers, chiefs among them; 1 without a cluster."""
        return sum(map(self._number_of, ("worker", "chief", "master"))) if self.cluster_spec.jobs else 1

    def _number_of(self, job: str) -> int:
        return self.cluster_spec.num_tasks(job) if job in self.cluster_spec.jobs else 0
