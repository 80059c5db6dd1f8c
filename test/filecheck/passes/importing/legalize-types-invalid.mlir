// RUN: ipu-opt %s --ipu-legalize-types --split-input-file --verify-diagnostics

func.func @constants_that_do_not_fit() {
  // expected-error @below {{'arith.constant' op holds 2147483648, which does not fit into i32}}
  %a = arith.constant 2147483648 : i64
  // expected-error @below {{'arith.constant' op holds -2147483649, which does not fit into i32}}
  %b = arith.constant dense<[1, -2147483649]> : tensor<2xi64>
  // expected-error @below {{'arith.constant' op holds 9223372036854775807, which does not fit into i32}}
  %c = arith.constant dense<9223372036854775807> : tensor<2xi64>
  // expected-error @below {{'arith.constant' op holds 1e+39, which does not fit into f32}}
  %d = arith.constant 1.0e39 : f64
  // expected-error @below {{'arith.constant' op holds 1e-300, which does not fit into f32}}
  %e = arith.constant dense<[0.0, 1.0e-300]> : tensor<2xf64>
  return
}

// -----

func.func @ops_on_bits(%x: i64, %y: f64) {
  %k = arith.constant 32 : i64
  // expected-error @below {{'arith.shrui' op shifts by 32 bits; there are only 32 of them in i32}}
  %a = arith.shrui %x, %k : i64
  // expected-error @below {{'arith.bitcast' op takes the bits of f64 as i64; there are half as many in 32 bits}}
  %b = arith.bitcast %y : f64 to i64
  return
}

// -----

func.func @elements_that_are_not_in_the_program() -> tensor<2xi64> {
  // expected-error @below {{'arith.constant' op has a constant whose elements are not in the program; write them as dense<...>}}
  %a = arith.constant sparse<0, 7> : tensor<2xi64>
  return %a : tensor<2xi64>
}
