# Feature: the three pipeline schedules and the iteration counter, under IPUStrategy (guide 21.15.7 PipelineSchedule, 21.15.5).
# Correct run: Grouped, Interleaved and Sequential train to the same weights and losses; the counter runs 0..7 in each accumulation; a count that
# the schedule cannot cut is refused; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

pipelining = ipu.pipelining_ops
COUNT, REPEAT, BATCH = 8, 2, 4
random = np.random.default_rng(4)
points = random.standard_normal((COUNT * REPEAT * BATCH, 6)).astype(np.float32)
targets = (points @ random.standard_normal((6, 1))).astype(np.float32)
start = [0.5 * random.standard_normal(shape).astype(np.float32) for shape in ((6, 8), (8, 8), (8, 8), (8, 1))]

config = ipu.config.IPUConfig()
config.auto_select_ipus = 4
config.configure_ipu_system()


def train(schedule, count=COUNT):
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        weights = [tf.Variable(value) for value in start]
        dataset = tf.data.Dataset.from_tensor_slices((points, targets)).batch(BATCH, drop_remainder=True).repeat()
        infeed = ipu.ipu_infeed_queue.IPUInfeedQueue(dataset)
        _ = infeed.initializer
        outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

        def stage1(x, y):
            return tf.tanh(tf.matmul(x, weights[0])), y

        def stage2(hidden, y):
            return tf.tanh(tf.matmul(hidden, weights[1])), y

        def stage3(hidden, y):
            return tf.tanh(tf.matmul(hidden, weights[2])), y

        def stage4(hidden, y):
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, weights[3]) - y))
            return loss, ipu.internal_ops.get_current_iteration_counter()

        def optimizer_function(loss, counter):
            optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.01)
            return pipelining.OptimizerFunctionOutput(optimizer, loss, compute_gradients_kwargs={"var_list": weights})

        @tf.function(jit_compile=True)
        def step():
            pipelining.pipeline(
                [stage1, stage2, stage3, stage4],
                gradient_accumulation_count=count,
                repeat_count=REPEAT,
                infeed_queue=infeed,
                outfeed_queue=outfeed,
                optimizer_function=optimizer_function,
                pipeline_schedule=schedule,
            )

        strategy.run(step)
        losses, counters = outfeed.dequeue()
        return np.ravel(losses), np.ravel(counters), [w.numpy() for w in weights]


schedules = pipelining.PipelineSchedule
reference = train(schedules.Sequential)
for schedule in (schedules.Grouped, schedules.Interleaved):
    losses, counters, weights = train(schedule)
    np.testing.assert_allclose(losses, reference[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(counters, np.tile(np.arange(COUNT), REPEAT))
    for ours, theirs in zip(weights, reference[2]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)

try:
    train(schedules.Grouped, 12)  # four stages, forward and backward: multiples of 8 only
except Exception as error:
    print(f"refused: {error}")
else:
    raise SystemExit("12 mini-batches do not fit the grouped schedule of four stages")
print("ok")
