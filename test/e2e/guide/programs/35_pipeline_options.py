# Feature: options of pipeline(): recomputation, checkpoints, offloading, stage options, outfeed mask, loss and accumulation, MEAN (guide 21.15.7).
# Correct run: every option that only moves or recomputes data gives the weights of the plain run; masks drop outputs, accumulate_outfeed sums
# them; MEAN equals SUM with the rate divided by the count; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

pipelining = ipu.pipelining_ops
COUNT, BATCH = 8, 4
random = np.random.default_rng(6)
points = random.standard_normal((COUNT * BATCH, 6)).astype(np.float32)
targets = (points[:, :1] - points[:, 1:2]).astype(np.float32)
start = [0.5 * random.standard_normal(shape).astype(np.float32) for shape in ((6, 8), (8, 1))]

config = ipu.config.IPUConfig()
config.auto_select_ipus = 2
config.allow_recompute = True
config.device_connection.enable_remote_buffers = True
config.configure_ipu_system()


def train(rate=0.01, **options):
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        weights = [tf.Variable(value) for value in start]
        momenta = tf.compat.v1.train.MomentumOptimizer(rate, 0.9)
        dataset = tf.data.Dataset.from_tensor_slices((points, targets)).batch(BATCH, drop_remainder=True).repeat()
        infeed = ipu.ipu_infeed_queue.IPUInfeedQueue(dataset)
        _ = infeed.initializer
        outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

        def stage1(x, y):
            hidden = pipelining.recomputation_checkpoint(tf.matmul(x, weights[0]))
            return tf.tanh(hidden), y

        def stage2(hidden, y):
            output = tf.matmul(hidden, weights[1])
            return tf.reduce_mean(tf.square(output - y)), output

        def optimizer_function(loss, output):
            return pipelining.OptimizerFunctionOutput(momenta, loss, compute_gradients_kwargs={"var_list": weights})

        @tf.function(jit_compile=True)
        def step():
            pipelining.pipeline(
                [stage1, stage2],
                gradient_accumulation_count=COUNT,
                repeat_count=2,
                infeed_queue=infeed,
                outfeed_queue=outfeed,
                optimizer_function=optimizer_function,
                **options,
            )

        strategy.run(step)
        return [w.numpy() for w in weights], tf.nest.map_structure(np.asarray, outfeed.dequeue())


plain, (losses, outputs) = train()
assert losses.shape == (2 * COUNT,) and outputs.shape == (2 * COUNT, BATCH, 1)
schedule, mode, half = pipelining.PipelineSchedule, pipelining.RecomputationMode, {"availableMemoryProportion": "0.3"}
stage = pipelining.PipelineStageOptions(matmul_options=half)
for options in (
    {"recomputation_mode": mode.RecomputeThenBackpropagate},
    {"recomputation_mode": mode.RecomputeAndBackpropagateInterleaved},
    {"pipeline_schedule": schedule.Sequential, "recomputation_mode": mode.Auto},
    {
        "offload_weight_update_variables": True,
        "offload_activations": True,
        "offload_gradient_accumulation_buffers": True,
    },
    {
        "forward_propagation_stages_poplar_options": [stage] * 2,
        "backward_propagation_stages_poplar_options": [stage] * 2,
        "weight_update_poplar_options": stage,
    },
):
    for ours, theirs in zip(train(**options)[0], plain):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=str(options))

mean = ipu.gradient_accumulation.GradientAccumulationReductionMethod.MEAN
for ours, theirs in zip(
    train(rate=0.01 * COUNT, reduction_method=mean, gradient_accumulation_dtype=tf.float32)[0], plain
):
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(np.ravel(tf.nest.flatten(train(outfeed_loss=True)[1])[0]), losses, rtol=1e-5)
np.testing.assert_allclose(np.ravel(tf.nest.flatten(train(outfeed_mask=[False, True])[1])[0]), losses, rtol=1e-5)
total = train(accumulate_outfeed=True, accumulate_outfeed_dtype=tf.float32)[1]
np.testing.assert_allclose(np.ravel(total[0]), losses.reshape(2, COUNT).sum(axis=1), rtol=1e-5)
print("ok")
