// RUN: not ipu-run 2>&1 | filecheck %s --check-prefix=NOTHING
// NOTHING: ipu-run: error: the following arguments are required: FILE; see ipu-run --help

// RUN: not ipu-run %t.absent.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// MISSING: .absent.mlir: error: cannot read the file: No such file or directory

// RUN: not ipu-run %S/Inputs/wrong.mlir 2>&1 | filecheck %s --check-prefix=WRONG
// WRONG: wrong.mlir:2:3: error: 'func.return' op has 0 operands

// RUN: not ipu-run %s --entry nobody 2>&1 | filecheck %s --check-prefix=ENTRY
// ENTRY: ipu-run: error: the program has no function @nobody; it has @main: say which runs, as in --entry main

// RUN: not ipu-run %s --inputs %t.absent.npz 2>&1 | filecheck %s --check-prefix=INPUTS
// INPUTS: ipu-run: error: cannot read {{.*}}.absent.npz: No such file or directory

// RUN: not ipu-run %s --check 2>&1 | filecheck %s --check-prefix=CHECK-WITHOUT
// CHECK-WITHOUT: ipu-run: error: --check needs the expected results in --inputs FILE.npz

// RUN: not ipu-run %s --seed 1 --inputs x.npz 2>&1 | filecheck %s --check-prefix=BOTH
// BOTH: ipu-run: error: --inputs and --seed exclude each other

// RUN: not ipu-run %s --tiles 0 2>&1 | filecheck %s --check-prefix=TILES
// TILES: ipu-run: error: a target needs --tiles >= 1, got 0

// RUN: not ipu-run %s --pass-pipeline='builtin.module(cse' 2>&1 | filecheck %s --check-prefix=PIPELINE
// PIPELINE: ipu-run: error: pipeline 'builtin.module(cse', column 15: '(' is never closed

// RUN: not ipu-run "" 2>&1 | filecheck %s --check-prefix=EMPTY
// EMPTY: ipu-run: error: argument FILE: expected a file, or - for stdin, got an empty name

// RUN: not ipu-run %s --seed -1 2>&1 | filecheck %s --check-prefix=SEED
// SEED: ipu-run: error: argument --seed: expected a whole number from 0, got '-1'

// RUN: not ipu-run %s --chip ipu9 2>&1 | filecheck %s --check-prefix=CHIP
// CHIP: ipu-run: error: argument --chip: no chip is called 'ipu9'; there are ipu1 (mk1), ipu2 (mk2), ipu21 (bow), whose figures can be changed, as --tiles

// RUN: not ipu-run %s --available-memory-proportion 2 2>&1 | filecheck %s --check-prefix=SHARE
// SHARE: ipu-run: error: argument --available-memory-proportion: a proportion is more than 0 and at most 1, got '2'

// RUN: not ipu-run %s --pass-pipeline=cse --merge-collectives 64 2>&1 | filecheck %s --check-prefix=MERGE
// MERGE: ipu-run: error: --merge-collectives is for the default passes; put an ipu-merge-collectives into yours

// RUN: not ipu-run %s --selection-order spiral 2>&1 | filecheck %s --check-prefix=ORDER
// ORDER: ipu-run: error: argument --selection-order: invalid choice: 'spiral' (choose from 'auto', 'zigzag', 'snake', 'hoof')

// RUN: not ipu-run %s --pass-pipeline=cse --available-memory-proportion 0.2 2>&1 | filecheck %s --check-prefix=OWN
// OWN: ipu-run: error: --available-memory-proportion is for the default passes

// RUN: not ipu-run %s --no-run --print-values 2>&1 | filecheck %s --check-prefix=EXCLUDED
// EXCLUDED: ipu-run: error: --no-run and --print-values exclude each other

// RUN: not ipu-run %s --outputs %t.absent/out.npz 2>&1 | filecheck %s --check-prefix=OUTPUTS
// OUTPUTS: ipu-run: error: cannot write {{.*}}.absent/out.npz: No such file or directory
// OUTPUTS-NOT: --help

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
