// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @noise_of_a_float(%key: f32, %i: index) {
  // expected-error @below {{stirs f32 with index to i32; it takes an i32 and an index, and gives an i32}}
  %n = "ipu.noise"(%key, %i) : (f32, index) -> i32
  return
}

// -----

func.func @noise_of_64_bits(%a: f16, %n: i64) {
  // expected-error @below {{takes noise of type i64; give it the i32 of an ipu.noise}}
  %y = "ipu.round"(%a, %n) {overflow = "clip"} : (f16, i64) -> f16
  return
}

// -----

func.func @f32_is_not_rounded(%a: f32, %n: i32) {
  // expected-error @below {{gives f32 for f32; both are f16, or both bf16}}
  %y = "ipu.round"(%a, %n) {overflow = "clip"} : (f32, i32) -> f32
  return
}

// -----

func.func @unknown_overflow(%a: f16) {
  // expected-error @below {{has overflow = 'wrap', expected one of infinity, clip, nan}}
  %y = "ipu.saturate"(%a) {overflow = "wrap"} : (f16) -> f16
  return
}

// -----

func.func @integers_raise_nothing(%a: i32) {
  // expected-error @below {{gives i1 for i32; it asks a float and gives an i1}}
  %y = "ipu.is_sound"(%a) {exception = "inv"} : (i32) -> i1
  return
}

// -----

func.func @unknown_exception(%a: f16) {
  // expected-error @below {{asks for exception 'inexact', expected one of inv, div0, oflo}}
  %y = "ipu.is_sound"(%a) {exception = "inexact"} : (f16) -> i1
  return
}
