// RUN: not ipu-sweep 2>&1 | filecheck %s --check-prefix=NOTHING
// NOTHING: ipu-sweep: error: the following arguments are required: FILE; see ipu-sweep --help

// RUN: not ipu-sweep %t.absent.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// MISSING: .absent.mlir: error: cannot read the file: No such file or directory

// RUN: not ipu-sweep %s --entry nobody 2>&1 | filecheck %s --check-prefix=ENTRY
// ENTRY: ipu-sweep: error: the program has no function @nobody; it has @main: say which runs, as in --entry main

// RUN: not ipu-sweep %s --available-memory-proportion 2 2>&1 | filecheck %s --check-prefix=PROPORTION
// PROPORTION: ipu-sweep: error: argument --available-memory-proportion: a proportion is more than 0 and at most 1, got '2'; see ipu-sweep --help

// RUN: not ipu-sweep %s --tiles many 2>&1 | filecheck %s --check-prefix=TILES
// TILES: ipu-sweep: error: argument --tiles: expected whole numbers from 1, separated by commas, got 'many'

// RUN: not ipu-sweep %s --partials-type f32,half 2>&1 | filecheck %s --check-prefix=TYPE
// TYPE: ipu-sweep: error: argument --partials-type: expected f32 or native, separated by a comma, got 'half'

// RUN: not ipu-sweep %s -o sweep.pdf 2>&1 | filecheck %s --check-prefix=SUFFIX
// SUFFIX: ipu-sweep: error: argument -o/--output: 'sweep.pdf' says not what to write; it ends in .html, .json, .csv

// RUN: not ipu-sweep %s 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: ipu-sweep-invalid.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}bufferization.alloc_tensor
func.func @main() -> tensor<4xf32> {
  %x = bufferization.alloc_tensor() : tensor<4xf32>
  return %x : tensor<4xf32>
}
