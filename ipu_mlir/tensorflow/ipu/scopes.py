"""Contexts that place and annotate operations (guide 21.3)."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.outside import on_host
from ipu_mlir.tensorflow.placement import named, on_device, on_shard, take_over_devices
from ipu_mlir.tensorflow.variables import is_tracing

_LOG = logging.getLogger("ipu_mlir.tensorflow")
take_over_devices()


@contextmanager
def ipu_scope(device: str) -> Iterator[None]:
    """A block for an IPU device: ``compile`` in graphs, and operations in eager mode.

    Raises:
        ValueError: ``device`` is not the name of one.
    """
    with on_device(device):
        yield


@contextmanager
def ipu_jit_scope(ipu_scope: Any) -> Iterator[None]:
    """Compile what is inside together; without effect, as the whole of a function is one program."""
    yield


@contextmanager
def ipu_shard(index: int) -> Iterator[None]:
    """Let operations and their gradients be on one IPU of the device; others are where their operands are.

    Raises:
        ValueError: ``index`` is no number from -1, which stands for all IPUs.
    """
    if type(index) is not int or index < -1:
        raise ValueError(f"a shard is the number of an IPU in its device, or -1 for all of them; got {index!r}")
    with on_shard(index):
        yield


@contextmanager
def frontend_attribute(attribute_name: str, attribute_value: str, restore_to: str | None = None) -> Iterator[None]:
    """Give operations that are made inside an attribute of text.

    Args:
        restore_to: without effect: operations that are made afterwards have the attributes from before.

    Raises:
        TypeError: it is no text.
    """
    for each in (attribute_name, attribute_value, restore_to or ""):
        if not isinstance(each, str):
            raise TypeError(f"attributes are text, got {each!r}")
    with named(f"ipu.{attribute_name}.{attribute_value}"):
        yield


@contextmanager
def partials_type(override_type: Any) -> Iterator[None]:
    """Say in which type matmuls and convolutions are summed inside, and their gradients.

    Sums are in float32 otherwise; with float16, those of 16 bits are in the type of their result.

    Raises:
        ValueError: it is neither float16 nor float32.
    """
    kind = tf.as_dtype(override_type)
    if kind not in (tf.float16, tf.float32):
        raise ValueError(f"partial sums are of type float16 or float32, got {kind.name}")
    with named("ipu.partials.native" if kind == tf.float16 else "ipu.partials.f32"):
        yield


@contextmanager
def stochastic_rounding(override: bool) -> Iterator[None]:
    """Say whether operations on float16 inside, and their gradients, round at random, or to the nearest.

    Raises:
        TypeError: it is no bool.
    """
    if not isinstance(override, bool):
        raise TypeError(f"stochastic rounding is on or off, got {override!r}")
    with named("ipu.rounding.stochastic" if override else "ipu.rounding.nearest"):
        yield


@contextmanager
def outside_compilation_scope(name: str = "outside") -> Iterator[None]:
    """Run what is inside on the host in the middle of a program, once for each replica.

    Tensors from outside of the block are passed to the host, and those of the block to the device where they are
    used; they have shapes then.

    Raises:
        ValueError: there is no program around, a variable is used in it, or a tensor of no shape or of text after it.
    """
    if not is_tracing():
        raise ValueError("outside_compilation_scope is for the middle of a program that is compiled for the IPU")
    with on_host(name):
        yield
