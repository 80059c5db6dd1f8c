// RUN: ipu-opt %s | ipu-opt | filecheck %s

#point = #ipu.mapping<1, [], 0, 2>

// CHECK-LABEL: func.func @scalar_for_control_flow
// CHECK-SAME: (%[[FLAG:.*]]: memref<i1, #[[POINT:m[0-9]+]]>)
// CHECK: %[[C:.*]] = "ipu.read_control"(%[[FLAG]]) : (memref<i1, #[[POINT]]>) -> i1
// CHECK: scf.if %[[C]]
func.func @scalar_for_control_flow(%flag: memref<i1, #point>) {
  %c = "ipu.read_control"(%flag) : (memref<i1, #point>) -> i1
  scf.if %c {
  }
  return
}
