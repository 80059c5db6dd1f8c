"""Collectives and strategies over processes, of which there is one; ``programs/19_popdist.py`` uses them."""

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from ipu_mlir.tensorflow import ipu  # noqa: E402

IPUS, TILES = 2, 4


@pytest.fixture(autouse=True)
def _configured(strategy):
    """The devices of ``strategy``."""


@pytest.mark.parametrize("name", ["POPDIST_NUM_INSTANCES", "OMPI_COMM_WORLD_SIZE"])
def test_several_processes_are_refused_with_the_way_out(monkeypatch, name):
    monkeypatch.setenv(name, "4")
    popdist, horovod = ipu.distributed.popdist_strategy, ipu.distributed.ipu_horovod_strategy
    for each in (popdist.PopDistStrategy, horovod.IPUHorovodStrategy, lambda: ipu.distributed.allgather(tf.ones(1))):
        with pytest.raises(NotImplementedError, match=rf"there are 4 processes \({name}\).*run one, and let its prog"):
            each()


def test_one_process_is_the_only_root():
    with pytest.raises(ValueError, match="root_rank is 1, and the only process is 0"):
        ipu.distributed.broadcast(tf.ones(1), 1)


@pytest.mark.parametrize("reduces", [True, False])
def test_gradients_of_replicas_are_combined_where_the_strategy_says_so(reduces):
    strategy = ipu.distributed.popdist_strategy.PopDistStrategy(add_ipu_cross_replica_reductions=reduces)
    outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

    @tf.function(jit_compile=True)
    def step():
        own = tf.cast(ipu.replication_ops.replication_index(), tf.float32)
        outfeed.enqueue(tf.distribute.get_replica_context().all_reduce("mean", own))

    with strategy.scope():
        strategy.run(step)
        assert np.ravel(outfeed.dequeue()).tolist() == ([0.5, 0.5] if reduces else [0, 1])
