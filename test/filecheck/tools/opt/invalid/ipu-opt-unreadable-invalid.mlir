// RUN: not ipu-opt %s --split-input-file -o /dev/null 2>&1 | filecheck %s

// CHECK: ipu-opt-unreadable-invalid.mlir:6:14: error: a string with the byte FF is not UTF-8; names and text have to be
func.func @location_is_no_text() {
  // the message has the place of the string, not the place that the string would give
  return loc("\FF":1:2)
}

// -----

// CHECK: ipu-opt-unreadable-invalid.mlir: error: MLIR cannot parse this text: it would end the process (SIG{{[A-Z]+}}); is the file damaged?
func.func @permutation_of_nothing(%x: tensor<2x3xf32>, %e: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [?, 0]
  return %t : tensor<3x2xf32>
}

// -----

// CHECK: ipu-opt-unreadable-invalid.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}'b '
func.func @a_name_with_a_line_break_stays_in_one_line() {
  func.call @"b\0A"() : () -> ()
  return
}

// -----

// CHECK: ipu-opt-unreadable-invalid.mlir:28:57: error: an array attribute has elements of ui8, expected i1, i8, i16, i32, i64, f32 or f64
func.func private @a() attributes {ipu.gradient = {by = array<ui8: 0>}}
