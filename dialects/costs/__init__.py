"""Costs of a vertex: cycles, code and state, as functions of the sizes of its part of the loops.

``amp``, ``elementwise``, ``moves``, ``pooling``, ``reductions`` and ``sums_of_products`` hold the formulas of one
vertex, on integers or on arrays of sizes; a library codelet brings its own. ``classify`` says which of them a
structured op needs, ``family`` applies them to all parts of an op, ``footprint`` says how many bytes a vertex takes
besides its data.
"""
