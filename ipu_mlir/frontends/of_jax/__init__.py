"""JAX beyond one function on one device: meshes, and what other libraries wrap functions in."""
