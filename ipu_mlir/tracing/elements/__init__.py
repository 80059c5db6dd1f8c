"""Elements of tensors, read and written at any place: ``x[...]``, ``x.at[...]``, slices that begin anywhere."""
