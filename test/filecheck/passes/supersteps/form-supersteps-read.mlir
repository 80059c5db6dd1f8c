// RUN: ipu-opt %s --ipu-form-supersteps --split-input-file --verify-diagnostics | filecheck %s

#point = #ipu.mapping<1, [], 0, 0>

// CHECK-LABEL: func.func @load_for_control_flow_reads_control
// CHECK-NOT: memref.load
// CHECK: %[[C:.*]] = "ipu.read_control"
// CHECK: scf.if %[[C]]
func.func @load_for_control_flow_reads_control(%flag: memref<i1, #point>) {
  %c = memref.load %flag[] : memref<i1, #point>
  scf.if %c {
  }
  return
}

// -----

#four = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @one_element_of_a_buffer(%x: memref<4xi1, #four>, %i: index) -> i1 {
  // expected-error @below {{'memref.load' op reads one element outside vertices; run ipu-raise-element-ops before bufferization}}
  %c = memref.load %x[%i] : memref<4xi1, #four>
  return %c : i1
}
