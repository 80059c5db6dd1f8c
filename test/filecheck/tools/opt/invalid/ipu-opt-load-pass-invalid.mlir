// RUN: not ipu-opt %s --load-pass %S/../../Inputs/name_clash.py 2>&1 | filecheck %s --check-prefix=CLASH
// CLASH: ipu-opt: error: two passes are named 'ipu-set-target': ipu_mlir.passes.importing.set_target.SetTarget and {{.*}}.Clash; rename one

// RUN: not ipu-opt %s --load-pass %S/../../Inputs/no_pass.py 2>&1 | filecheck %s --check-prefix=NONE
// NONE: no_pass.py defines no pass; expected a class that derives from Pass and has a name

// RUN: not ipu-opt %s --load-pass %t.py 2>&1 | filecheck %s --check-prefix=MISSING
// MISSING: cannot load passes from {{.*}}ipu-opt-load-pass-invalid.mlir{{.*}}.py: {{.*}}No such file

// RUN: cp %S/../../Inputs/broken.py.txt %t.broken.py
// RUN: not ipu-opt %s --load-pass %t.broken.py 2>&1 | filecheck %s --check-prefix=BROKEN
// BROKEN: .broken.py:3:12: error: invalid syntax

// A pass that refuses the program: an error with its line per place, and no output.
// RUN: not ipu-opt %s --load-pass %S/../../Inputs/count_adds.py --test-count-adds='at-least=2' 2>&1 | filecheck %s
// CHECK: ipu-opt-load-pass-invalid.mlir:24:1: error: 'func.func' op has 0 additions, expected 2 or more
// CHECK-NEXT: func.func @none() {
// CHECK-NEXT: {{^\^$}}
// CHECK-NEXT: ipu-opt-load-pass-invalid.mlir:28:1: error: 'func.func' op has 0 additions, expected 2 or more
// CHECK-NEXT: func.func @none_either() {
// CHECK-NOT: error
// CHECK-NOT: func.func @

func.func @none() {
  return
}

func.func @none_either() {
  return
}
