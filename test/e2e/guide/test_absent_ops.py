"""Ops that XLA does not have: programs compute what TensorFlow's own kernels do, and the layers that use them train."""

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)

TARGET = ipu_mlir.Target(tiles_per_ipu=8)
IMAGES = np.random.default_rng(0).standard_normal((2, 6, 5, 3)).astype(np.float32)


def on_host_and_device(function, *args):
    """What the kernels give, and the program."""
    executable = ipu_mlir.compile(tf.function(function), args=list(args), target=TARGET)
    return function(*map(tf.constant, args)).numpy(), executable(*args).numpy()


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "WRAP", "NEAREST"])
@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_transformed_images_and_their_gradients(interpolation, mode):
    draw = np.random.default_rng(1)
    random = [1, 0, 0, 0, 1, 0, 0, 0] + draw.standard_normal((2, 8)) * [0.3, 0.3, 4, 0.3, 0.3, 4, 0.02, 0.02]
    halves = np.array([[1, 0, 0.5, 0, 1, -2.5, -0.5, 0], [1, 0, -20, 0, 1, 17, 0, 0]])

    def transform(images, transforms):
        return tf.raw_ops.ImageProjectiveTransformV3(
            images=images, transforms=transforms, output_shape=[7, 4], fill_value=0.3, interpolation=interpolation,
            fill_mode=mode,
        )  # fmt: skip

    def gradient(images, transforms):
        with tf.GradientTape() as tape:
            tape.watch(images)
            total = tf.reduce_sum(transform(images, transforms) * tf.reshape(tf.range(2.0 * 7 * 4 * 3), [2, 7, 4, 3]))
        return tape.gradient(total, images)

    for each in (random, halves):
        expected, found = on_host_and_device(transform, IMAGES, each.astype(np.float32))
        np.testing.assert_allclose(found, expected, atol=1e-6)
    simple = np.float32([[0.8, 0.1, 1.2, -0.1, 1.1, 0.3, 0, 0]])
    expected, found = on_host_and_device(gradient, IMAGES, simple)
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_of_a_known_length(binary, axis, weighted):
    numbers = np.array([[0, 2, 2, 7], [4, 4, 4, 9]], np.int32)
    weights = np.float32([[1, 2, 3, 4], [0.5, 1, 1, 9]]) if weighted and not binary else None

    def count(numbers):
        return tf.math.bincount(
            numbers, weights, minlength=5, maxlength=5, axis=axis, binary_output=binary, dtype=tf.float32
        )

    expected, found = on_host_and_device(count, numbers)
    np.testing.assert_array_equal(found, expected)


def layers():
    kinds = keras.layers
    return {
        "rotation": kinds.RandomRotation(0.1, seed=1),
        "zoom": kinds.RandomZoom(0.2, seed=1, fill_mode="nearest"),
        "translation": kinds.RandomTranslation(0.2, 0.2, seed=1, interpolation="nearest"),
        "crop": kinds.RandomCrop(4, 4, seed=1),
    }


@pytest.mark.parametrize("name", list(layers()))
def test_layers_that_augment(name):
    x = np.random.default_rng(0).random((4, 5, 5, 2), np.float32)
    layer = layers()[name]
    drawn = (1, 0) if name == "crop" else layer.get_random_transformation(tf.constant(x), training=True)
    expected, found = on_host_and_device(lambda images: layer.transform_images(images, drawn, training=True), x)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 8
    config.configure_ipu_system()
    with ipu.ipu_strategy.IPUStrategy().scope():
        model = keras.Sequential([keras.Input(x.shape[1:]), layers()[name], keras.layers.Flatten()])
        model.add(keras.layers.Dense(1, kernel_initializer="zeros"))
        model.compile(keras.optimizers.SGD(0.01), "mse")
        losses = model.fit(x, 1 + x[:, 0, 0, :1], epochs=2, verbose=0).history["loss"]
    assert losses[0] == pytest.approx(np.mean((1 + x[:, 0, 0, 0]) ** 2), rel=1e-5) and losses[1] < losses[0]


def test_encoded_categories_are_one_program(caplog):
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 8
    config.configure_ipu_system()
    x = np.random.default_rng(0).integers(0, 5, (12, 3))
    for mode in ("multi_hot", "count"):
        with ipu.ipu_strategy.IPUStrategy().scope():
            model = keras.Sequential([keras.Input((3,)), keras.layers.CategoryEncoding(5, output_mode=mode)])
            model.compile()
            found = model.predict(x, batch_size=4, verbose=0)
        expected = keras.layers.CategoryEncoding(5, output_mode=mode)(x)
        np.testing.assert_array_equal(found, expected)
    assert not [line for line in caplog.messages if "is compiled again" in line]


def gradient_of(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(function(x) ** 2)
    return tape.gradient(total, x)


def assert_same_on_both(functions, x, without_gradients=(), atol=1e-4):
    """One program of all ``functions`` of ``x``, and of the gradients of the first ones."""

    def everything(x):
        gradients = [gradient_of(function, x) for function in functions]
        return [function(x) for function in (*functions, *without_gradients)], gradients

    found = ipu_mlir.compile(tf.function(everything, autograph=False), args=[x], target=TARGET)(x)
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(everything(tf.constant(x))), strict=True):
        np.testing.assert_allclose(one, tf.convert_to_tensor(other), rtol=1e-4, atol=atol)


@pytest.mark.parametrize("gradients", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_determinants_and_factors(gradients):
    x = np.random.default_rng(2).standard_normal((2, 3, 3)).astype(np.float32)
    functions = [lambda x: tf.linalg.det(x), lambda x: tf.linalg.slogdet(x)[1]]
    others = [lambda x: tf.linalg.slogdet(x)[0], lambda x: tuple(tf.linalg.lu(x))]
    assert_same_on_both(functions if gradients else [], x, others if gradients else [*functions, *others], 1e-3)


def test_segments_of_known_numbers_and_lengths_of_vectors():
    numbers = [0, 0, 2, 2, 2]
    kinds = [getattr(tf.math, f"segment_{name}") for name in ("sum", "mean", "prod", "min", "max")]
    segments = [lambda x, kind=kind: kind(x, numbers) for kind in kinds]
    functions = [*segments, lambda x: tf.math.reduce_euclidean_norm(x, 1)]
    assert_same_on_both(functions, np.random.default_rng(3).standard_normal((5, 2)).astype(np.float32))


BICUBIC = [("bicubic", False, (5, 7))]
KINDS = [("bicubic", True), ("area", False), ("lanczos3", True), ("lanczos5", False), ("gaussian", False)]
OTHERS = [(*kind, size) for kind in [*KINDS, ("mitchellcubic", True)] for size in ((4, 9), (11, 3))]


@pytest.mark.parametrize(
    "resizes", [BICUBIC, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["bicubic", "other kernels"]
)
def test_images_of_other_sizes(resizes):
    def resized(images):
        return [tf.image.resize(images, size, method, antialias=smooth) for method, smooth, size in resizes]

    found = ipu_mlir.compile(tf.function(resized), args=[IMAGES], target=TARGET)(IMAGES)
    for one, other in zip(found, resized(tf.constant(IMAGES)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_boxes_of_images_and_quarter_turns():
    boxes, owners = [[0.0, 0, 1, 1], [0.2, 0.3, 0.5, 1.2], [0.9, 0.8, 0.1, -0.2]], [0, 1, 1]

    def cut(images):
        crops = [
            tf.image.crop_and_resize(images, boxes, owners, (3, 1), method, 0.7) for method in ("bilinear", "nearest")
        ]
        return *crops, *(tf.image.rot90(images, k) for k in (1, 2, 3)), tf.image.rot90(images[0])

    found = ipu_mlir.compile(tf.function(cut), args=[IMAGES], target=TARGET)(IMAGES)
    for one, other in zip(found, cut(tf.constant(IMAGES)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_tridiagonal_solutions_and_their_gradients():
    draw = np.random.default_rng(2)

    def solved(diagonals, right):
        with tf.GradientTape() as tape:
            tape.watch([diagonals, right])
            found = tf.linalg.tridiagonal_solve(diagonals, right)
        slopes = tape.gradient(found, [diagonals, right], output_gradients=found)
        return tf.concat([found, *slopes[1:], tf.linalg.matrix_transpose(slopes[0])], -1)

    given = [draw.standard_normal(shape).astype(np.float32) for shape in ((2, 3, 5), (2, 5, 2))]
    on_host, on_device = on_host_and_device(solved, *given)
    np.testing.assert_allclose(on_device, on_host, rtol=1e-5, atol=1e-5)
