"""Datasets in whole buffers."""

import tensorflow as tf
from tensorflow.python.data.ops.dataset_ops import UnaryUnchangedStructureDataset


class BufferDataset(UnaryUnchangedStructureDataset):
    """The elements of a dataset as far as whole buffers of ``buffer_size`` go; a partial one at its end is left out."""

    def __init__(self, input_dataset: tf.data.Dataset, buffer_size: int) -> None:
        """Make it of ``input_dataset``.

        Raises:
            TypeError: it is none.
        """
        if not isinstance(input_dataset, tf.data.Dataset):
            raise TypeError(f"BufferDataset takes a tf.data.Dataset, got {type(input_dataset).__name__}")
        whole = input_dataset.batch(buffer_size, drop_remainder=True).unbatch()
        super().__init__(input_dataset, whole._variant_tensor)
