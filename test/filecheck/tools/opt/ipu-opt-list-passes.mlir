// RUN: ipu-opt --list-passes | filecheck %s
// RUN: ipu-opt --list-passes --load-pass %S/../Inputs/count_adds.py | filecheck %s --check-prefix=LOADED

// CHECK-LABEL: Passes:
// CHECK: ipu-set-target
// CHECK-NEXT: Name the machine
// CHECK-NEXT: chip: text (default: none)
// CHECK-NEXT: tiles: an integer (default: none)
// CHECK-LABEL: Pipelines:
// CHECK: ipu-normalize
// CHECK: ipu-place
// CHECK: ipu-lower
// CHECK: ipu-compile
// CHECK: Every pass of upstream MLIR

// LOADED: test-count-adds
// LOADED-NEXT: Write the number of additions of each function into an attribute.
// LOADED-NEXT: attribute: text (default: test.adds)
// LOADED-NEXT: at-least: an integer (default: 0)
