"""Run the layers of Keras on TensorFlow: as they infer, as they train, and their gradients.

python scripts/sweeps/keras_layers.py results.jsonl
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from outcomes import TARGET, Case, NotTaken, run_all

import ipu_mlir as ipu

HEAD = f"""Written by `scripts/sweeps/keras_layers.py` with keras {keras.__version__} on tensorflow {tf.__version__}:
every layer that is not made for text alone, as it infers, on inputs and on constants, as it trains (with the new values
of its state, random bits among them) and the gradients of its weights and inputs, compared with what TensorFlow gives.
A layer that XLA itself does not take counts: Keras runs it without."""
SEQUENCE, ROW = (2, 5, 4), (3, 4)
LINE, IMAGE, VOLUME = (2, 6, 3), (2, 6, 6, 3), (1, 4, 4, 4, 2)
SPACES = {1: LINE, 2: IMAGE, 3: VOLUME}
TOKENS = "tokens"
"""In place of a shape: small integers."""

LAYERS: list[tuple[str, Callable[[], Any], list[Any]]] = [
    ("Dense", lambda: layers.Dense(5, activation="gelu"), [ROW]),
    ("EinsumDense", lambda: layers.EinsumDense("abc,cd->abd", (None, 6), bias_axes="d"), [SEQUENCE]),
    ("Embedding", lambda: layers.Embedding(7, 4), [TOKENS]),
    ("ReversibleEmbedding", lambda: layers.ReversibleEmbedding(7, 4), [TOKENS]),
    ("Lambda", lambda: layers.Lambda(lambda x: x * x + 1), [ROW]),
    ("Masking", lambda: layers.Masking(0.0), [SEQUENCE]),
    ("Identity", layers.Identity, [ROW]),
    *(
        (f"Activation({name!r})", partial(layers.Activation, name), [ROW])
        for name in (
            *("celu", "elu", "exponential", "gelu", "glu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_tanh"),
            *("leaky_relu", "linear", "log_sigmoid", "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu"),
            *("soft_shrink", "softmax", "softplus", "softsign", "sparse_plus", "sparsemax", "squareplus", "tanh"),
            *("tanh_shrink",),
        )
    ),
    ("ELU", layers.ELU, [ROW]),
    ("LeakyReLU", layers.LeakyReLU, [ROW]),
    ("PReLU", lambda: layers.PReLU(alpha_initializer="glorot_uniform"), [ROW]),
    ("ReLU", lambda: layers.ReLU(1.5, 0.1, 0.2), [ROW]),
    ("Softmax", layers.Softmax, [SEQUENCE]),
    ("ActivityRegularization", lambda: layers.ActivityRegularization(0.1, 0.1), [ROW]),
    *(
        (f"{name}{n}D", partial(getattr(layers, f"{name}{n}D"), **options), [SPACES[n]])
        for name, options, dimensions in (
            ("Conv", {"filters": 4, "kernel_size": 3, "padding": "same"}, (1, 2, 3)),
            ("Conv", {"filters": 4, "kernel_size": 2, "strides": 2, "activation": "relu"}, (1, 2, 3)),
            ("Conv", {"filters": 4, "kernel_size": 2, "dilation_rate": 2}, (1, 2, 3)),
            ("DepthwiseConv", {"kernel_size": 3, "depth_multiplier": 2}, (1, 2)),
            ("SeparableConv", {"filters": 4, "kernel_size": 3}, (1, 2)),
            ("AveragePooling", {"pool_size": 2}, (1, 2, 3)),
            ("AveragePooling", {"pool_size": 3, "strides": 2, "padding": "same"}, (1, 2, 3)),
            ("MaxPooling", {"pool_size": 2}, (1, 2, 3)),
            ("MaxPooling", {"pool_size": 3, "strides": 2, "padding": "same"}, (1, 2, 3)),
            ("GlobalAveragePooling", {}, (1, 2, 3)),
            ("GlobalMaxPooling", {"keepdims": True}, (1, 2, 3)),
            ("AdaptiveAveragePooling", {"output_size": 2}, (1, 2, 3)),
            ("AdaptiveMaxPooling", {"output_size": 2}, (1, 2, 3)),
            ("Cropping", {"cropping": 1}, (1, 2, 3)),
            ("ZeroPadding", {"padding": 1}, (1, 2, 3)),
            ("UpSampling", {"size": 2}, (1, 2, 3)),
            ("UpSampling", {"size": 2, "interpolation": "bilinear"}, (2,)),
            ("SpatialDropout", {"rate": 0.4, "seed": 1}, (1, 2, 3)),
        )
        for n in dimensions
    ),
    *(
        (
            f"Conv{n}DTranspose",
            partial(getattr(layers, f"Conv{n}DTranspose"), 4, 3, strides=2, padding="same"),
            [SPACES[n]],
        )
        for n in (1, 2, 3)
    ),
    ("Conv2D", lambda: layers.Conv2D(6, 3, groups=3), [IMAGE]),
    *((name, partial(getattr(layers, name), 4), [SEQUENCE]) for name in ("SimpleRNN", "GRU", "LSTM")),
    ("GRU", lambda: layers.GRU(4, return_sequences=True, go_backwards=True, reset_after=False), [SEQUENCE]),
    ("LSTM", lambda: layers.LSTM(4, return_sequences=True, return_state=True), [SEQUENCE]),
    ("RNN", lambda: layers.RNN(layers.LSTMCell(4)), [SEQUENCE]),
    ("StackedRNNCells", lambda: layers.RNN(layers.StackedRNNCells([layers.GRUCell(4), layers.GRUCell(3)])), [SEQUENCE]),
    ("SimpleRNNCell", lambda: layers.RNN(layers.SimpleRNNCell(4), return_sequences=True), [SEQUENCE]),
    ("GRUCell", lambda: layers.RNN(layers.GRUCell(4), unroll=True), [SEQUENCE]),
    ("LSTMCell", lambda: layers.RNN(layers.LSTMCell(4), return_state=True), [SEQUENCE]),
    ("Bidirectional", lambda: layers.Bidirectional(layers.LSTM(4)), [SEQUENCE]),
    ("TimeDistributed", lambda: layers.TimeDistributed(layers.Dense(3)), [SEQUENCE]),
    ("ConvLSTM1D", lambda: layers.ConvLSTM1D(2, 3, padding="same"), [(2, 3, 5, 2)]),
    ("ConvLSTM2D", lambda: layers.ConvLSTM2D(2, 3, padding="same"), [(2, 3, 5, 5, 2)]),
    ("ConvLSTM3D", lambda: layers.ConvLSTM3D(2, 2, padding="same"), [(1, 2, 3, 3, 3, 2)]),
    ("Attention", layers.Attention, [[SEQUENCE, (2, 3, 4)]]),
    ("AdditiveAttention", layers.AdditiveAttention, [[SEQUENCE, (2, 3, 4)]]),
    ("MultiHeadAttention", lambda: layers.MultiHeadAttention(2, 3), [SEQUENCE, (2, 3, 4)]),
    ("GroupQueryAttention", lambda: layers.GroupQueryAttention(4, 4, 2), [SEQUENCE, (2, 3, 4)]),
    ("BatchNormalization", layers.BatchNormalization, [IMAGE]),
    ("LayerNormalization", layers.LayerNormalization, [SEQUENCE]),
    ("GroupNormalization", lambda: layers.GroupNormalization(3), [IMAGE]),
    ("RMSNormalization", layers.RMSNormalization, [SEQUENCE]),
    ("UnitNormalization", layers.UnitNormalization, [SEQUENCE]),
    ("SpectralNormalization", lambda: layers.SpectralNormalization(layers.Dense(5)), [ROW]),
    ("Normalization", lambda: layers.Normalization(mean=0.5, variance=2.0), [ROW]),
    ("Dropout", lambda: layers.Dropout(0.4, seed=1), [SEQUENCE]),
    ("AlphaDropout", lambda: layers.AlphaDropout(0.4, seed=1), [SEQUENCE]),
    ("GaussianDropout", lambda: layers.GaussianDropout(0.4, seed=1), [SEQUENCE]),
    ("GaussianNoise", lambda: layers.GaussianNoise(0.4, seed=1), [SEQUENCE]),
    *(
        (name, getattr(layers, name), [[ROW, ROW]])
        for name in ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")
    ),
    ("Dot", lambda: layers.Dot(axes=(2, 2)), [[SEQUENCE, (2, 3, 4)]]),
    ("Flatten", layers.Flatten, [IMAGE]),
    ("Permute", lambda: layers.Permute((2, 3, 1)), [IMAGE]),
    ("RepeatVector", lambda: layers.RepeatVector(3), [ROW]),
    ("Reshape", lambda: layers.Reshape((2, -1)), [ROW]),
    ("CategoryEncoding", lambda: layers.CategoryEncoding(7), [TOKENS]),
    ("CategoryEncoding", lambda: layers.CategoryEncoding(7, output_mode="count"), [TOKENS]),
    ("CategoryEncoding", lambda: layers.CategoryEncoding(7, output_mode="one_hot"), [TOKENS]),
    ("IntegerLookup", lambda: layers.IntegerLookup(vocabulary=[3, 1, 5]), [TOKENS]),
    ("Hashing", lambda: layers.Hashing(5), [TOKENS]),
    *(
        (name, partial(getattr(layers, name), *given, **options), [IMAGE])
        for name, given, options in (
            ("RandomBrightness", (0.2,), {"value_range": (0, 1), "seed": 1}),
            ("RandomContrast", (0.2,), {"value_range": (0, 1), "seed": 1}),
            ("RandomCrop", (4, 3), {"seed": 1}),
            ("RandomFlip", (), {"seed": 1}),
            ("RandomGrayscale", (0.5,), {"seed": 1}),
            ("RandomInvert", (0.5,), {"value_range": (0, 1), "seed": 1}),
            ("RandomRotation", (0.2,), {"seed": 1}),
            ("RandomShear", (0.2, 0.2), {"seed": 1}),
            ("RandomTranslation", (0.2, 0.2), {"seed": 1}),
            ("RandomZoom", (0.2,), {"seed": 1}),
            ("Solarization", (), {"value_range": (0, 1), "seed": 1}),
            ("AutoContrast", (), {"value_range": (0, 1)}),
            ("Equalization", (), {"value_range": (0, 1)}),
        )
    ),
    ("Discretization", lambda: layers.Discretization(bin_boundaries=[-0.5, 0.0, 0.5]), [ROW]),
    ("Rescaling", lambda: layers.Rescaling(0.5, 0.1), [ROW]),
    ("CenterCrop", lambda: layers.CenterCrop(4, 3), [IMAGE]),
    ("Resizing", lambda: layers.Resizing(4, 9), [IMAGE]),
    ("STFTSpectrogram", lambda: layers.STFTSpectrogram(frame_length=8, frame_step=4, fft_length=8), [(2, 24, 1)]),
    (
        "MelSpectrogram",
        lambda: layers.MelSpectrogram(8, 4, 8, sampling_rate=80, num_mel_bins=3, max_freq=40),
        [(2, 24)],
    ),
]


def cases() -> list[Case]:
    """Every layer as it infers, also constants, as it trains (with the new values of its state), and its gradients."""
    titles: dict[str, int] = {}
    return [case for name, make, shapes in LAYERS for case in _cases_of(name, make, shapes, titles)]


def _cases_of(name: str, make: Callable[[], Any], shapes: list[Any], titles: dict[str, int]) -> Iterator[Case]:
    titles[name] = titles.get(name, 0) + 1
    title = name if titles[name] == 1 else f"{name} ({titles[name]})"
    hows = (("inference", _inference), ("training", _training), ("gradient", _gradient), ("constant", _constant))
    for how, run in hows:
        yield Case(
            f"{title}  {how}", name.partition("(")[0], "keras.layers", partial(run, make, shapes), 5, how == "gradient"
        )


def _example(shape: Any, rng: np.random.Generator) -> Any:
    if isinstance(shape, list):
        return [_example(each, rng) for each in shape]
    if shape == TOKENS:
        return tf.constant(rng.integers(0, 7, (2, 5)).astype(np.int32))
    return tf.constant(rng.normal(size=shape).astype(np.float32))


def _made(make: Callable[[], Any], shapes: list[Any]) -> tuple[Any, list[Any]]:
    """A layer with weights that are not those it begins with, and arguments for it."""
    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    layer, args = make(), [_example(each, rng) for each in shapes]
    layer(*args)
    for each in layer.trainable_variables:
        each.assign(each + rng.uniform(-0.3, 0.3, each.shape))
    return layer, args


def _inference(make: Callable[[], Any], shapes: list[Any]) -> Any:
    layer, args = _made(make, shapes)
    return _both(lambda *inputs: _called(layer, inputs), args)


def _constant(make: Callable[[], Any], shapes: list[Any]) -> Any:
    """On constants, which the program has in it."""
    layer, args = _made(make, shapes)

    def added(zero: Any) -> Any:
        return tf.nest.map_structure(lambda each: each + tf.cast(zero, each.dtype), _called(layer, args))

    return _both(added, [tf.constant(0.0)])


def _called(layer: Any, inputs: Sequence[Any]) -> Any:
    """What a layer gives; its state stays as it is."""
    return layer.stateless_call(*_values(layer), *inputs)[0]


def _training(make: Callable[[], Any], shapes: list[Any]) -> Any:
    layer, args = _made(make, shapes)
    own, state = _values(layer)
    if not layer._call_has_training_arg:
        raise NotTaken("it trains as it infers")
    return _both(
        lambda own, state, *inputs: layer.stateless_call(own, state, *inputs, training=True), [own, state, *args]
    )


def _gradient(make: Callable[[], Any], shapes: list[Any]) -> Any:
    layer, args = _made(make, shapes)
    own, state = _values(layer)
    training = {"training": True} if layer._call_has_training_arg else {}

    def gradients(own: list[Any], state: list[Any], *inputs: Any) -> Any:
        watched = [each for each in tf.nest.flatten((own, inputs)) if each.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            results, _ = layer.stateless_call(own, state, *inputs, **training)
            floats = [each for each in tf.nest.flatten(results) if each.dtype.is_floating]
            total = sum(tf.reduce_sum(each * _weights(each)) for each in floats)
        return tape.gradient(total, watched, unconnected_gradients="zero")

    return _both(gradients, [own, state, *args], needs_gradient=True)


def _weights(result: Any) -> Any:
    count = int(np.prod(result.shape))
    return tf.constant(np.cos(np.arange(count)).reshape(result.shape).astype(np.float32))


def _values(layer: Any) -> tuple[list[Any], list[Any]]:
    groups = (layer.trainable_variables, layer.non_trainable_variables)
    own, state = ([tf.convert_to_tensor(each) for each in group] for group in groups)
    return own, state


def _both(function: Callable[..., Any], args: list[Any], needs_gradient: bool = False) -> Any:
    compiled = tf.function(function, jit_compile=True, autograph=False)
    try:
        expected = tf.nest.flatten(compiled(*args), expand_composites=True)
    except Exception:  # XLA does not take it; Keras itself turns jit_compile off then
        try:
            expected = tf.nest.flatten(tf.function(function, autograph=False)(*args), expand_composites=True)
        except Exception as error:
            raise NotTaken(f"{type(error).__name__}: {error}") from error
    if needs_gradient and not any(np.any(each) for each in expected):
        raise NotTaken("0 everywhere")
    found = tf.nest.flatten(ipu.compile(compiled, args=args, target=TARGET)(*args), expand_composites=True)
    return [np.asarray(each) for each in found], [np.asarray(each) for each in expected]


if __name__ == "__main__":
    run_all(cases, __doc__, "Layers of Keras", HEAD, "keras-layers.md")
