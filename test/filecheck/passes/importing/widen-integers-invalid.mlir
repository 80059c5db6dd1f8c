// RUN: ipu-opt %s --ipu-widen-integers --verify-diagnostics

func.func @sum(%x: i4) -> i4 {
  // expected-error @below {{'arith.addi' op computes with integers of fewer than 8 bits; convert them before, and the results after}}
  %0 = arith.addi %x, %x : i4
  return %0 : i4
}
