"""How fast programs run and compile, beside what a user would write or run instead.

python -m benchmarks.run                 run time, as ratios to hand-written NumPy
python -m benchmarks.beside              real programs beside JAX and PyTorch, in one process
python -m benchmarks.where               where the run time goes, statement by statement
python -m benchmarks.compile_time        compile time, pass by pass
python -m benchmarks.planner             estimated cycles of the planner beside those of equal parts
python -m benchmarks.programs            programs with state and streams, beside NumPy that computes in place
python -m benchmarks.tiles               that neither run time nor source grows with the number of tiles
"""
