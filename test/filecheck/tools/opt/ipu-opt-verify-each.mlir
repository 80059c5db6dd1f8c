// A pass that breaks the IR is found where it happens. Without the check in between its IR is printed as it is, for a look at it.
// RUN: not ipu-opt %s --load-pass %S/../Inputs/drop_results.py --test-drop-results --cse 2>&1 | filecheck %s
// RUN: ipu-opt %s --load-pass %S/../Inputs/drop_results.py --test-drop-results --verify-each=0 2>&1 | filecheck %s --check-prefix=OFF
// RUN: not ipu-opt %s --verify-each=maybe 2>&1 | filecheck %s --check-prefix=USAGE

// CHECK: ipu-opt-verify-each.mlir:11:3: error: 'func.return' op has 1 operands, but enclosing function (@f) returns 0 (after pass 'test-drop-results')
// OFF: "func.func"() <{function_type = (i32) -> (), sym_name = "f"}>
// OFF: "func.return"(%{{.*}}) : (i32) -> ()
// USAGE: ipu-opt: error: argument --verify-each: expected 0 or 1, got 'maybe'
func.func @f(%a: i32) -> i32 {
  return %a : i32
}
