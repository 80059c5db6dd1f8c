"""``IPUMultiWorkerStrategy`` of one worker; ``programs/18_multi_worker_pipeline.py`` trains with it."""

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from ipu_mlir.tensorflow import ipu  # noqa: E402


def strategy_of(*workers: str):
    spec = tf.train.ClusterSpec({"worker": list(workers)})
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, task_type="worker", task_id=0)
    return ipu.ipu_multi_worker_strategy.IPUMultiWorkerStrategy(resolver)


def test_several_workers_are_refused_with_the_way_out():
    with pytest.raises(NotImplementedError, match=r"has 2 workers \(a:1, b:2\).*name one worker"):
        strategy_of("a:1", "b:2")


def test_one_worker_runs_by_itself_and_sums_what_it_has():
    strategy = strategy_of("a:1")
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=3)
    assert strategy.update_config_proto(config) == config and strategy.num_replicas_in_sync == 1
    with tf.Graph().as_default(), strategy.scope():
        weight = tf.compat.v1.get_variable("w", initializer=np.float32([1, 2]), use_resource=True)
        given = tf.compat.v1.placeholder(tf.float32, [2])

        def model(x):
            return weight * x

        def compiled(x):
            with ipu.scopes.ipu_scope("/device:IPU:0"):
                return ipu.ipu_compiler.compile(model, inputs=[x])

        (product,) = strategy.experimental_run_v2(compiled, args=[given])
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, product, axis=None)
        assert not weight.device
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            np.testing.assert_allclose(session.run(total, {given: [3.0, 4.0]}), [3, 8])
