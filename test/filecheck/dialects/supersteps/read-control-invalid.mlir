// RUN: ipu-opt %s --split-input-file --verify-diagnostics

#a = #ipu.mapping<1, [], 0, 0>
func.func @source_has_a_rank(%x: memref<1xi1, #a>) {
  // expected-error @below {{'ipu.read_control' op reads memref<1xi1, #ipu.mapping<1 : i64, [], 0 : i64, 0 : i64>>; control flow takes one scalar, from a memref of rank 0}}
  %c = "ipu.read_control"(%x) : (memref<1xi1, #a>) -> i1
  return
}

// -----

func.func @source_is_no_buffer(%x: i1) {
  // expected-error @below {{reads i1; control flow takes one scalar}}
  %c = "ipu.read_control"(%x) : (i1) -> i1
  return
}

// -----

func.func @source_without_mapping(%x: memref<i1>) {
  // expected-error @below {{has a source that lies on no tile: memref<i1>; give it a #ipu.mapping as memory space}}
  %c = "ipu.read_control"(%x) : (memref<i1>) -> i1
  return
}

// -----

#a = #ipu.mapping<1, [], 0, 0>
func.func @value_of_another_type(%x: memref<i32, #a>) {
  // expected-error @below {{reads i32 as i1; both are one type}}
  %c = "ipu.read_control"(%x) : (memref<i32, #a>) -> i1
  return
}

// -----

#a = #ipu.mapping<1, [], 0, 0>
func.func @no_result(%x: memref<i32, #a>) {
  // expected-error @below {{expects exactly 1 results, but got 0}}
  "ipu.read_control"(%x) : (memref<i32, #a>) -> ()
  return
}
