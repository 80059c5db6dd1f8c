// RUN: ipu-opt %s --ipu-form-supersteps | filecheck %s

// Element-wise steps of recurrent layers are one family of codelets, however a front end writes them.

#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @what_a_state_keeps_and_takes(
// CHECK: linalg.generic
// CHECK: }) {codelet = "lstm_state_f32"
func.func @what_a_state_keeps_and_takes(%ii: memref<4xf32, #home>, %ff: memref<4xf32, #home>, %gg: memref<4xf32, #home>, %cc: memref<4xf32, #home>, %to: memref<4xf32, #home>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%ii, %ff, %gg, %cc : memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>) outs(%to : memref<4xf32, #home>) {
  ^bb0(%i_: f32, %f_: f32, %g_: f32, %c_: f32, %old: f32):
    %n0 = arith.negf %i_ : f32
    %e0 = math.exp %n0 : f32
    %s0 = arith.addf %e0, %one : f32
    %g0 = arith.divf %one, %s0 : f32
    %n1 = arith.negf %f_ : f32
    %e1 = math.exp %n1 : f32
    %s1 = arith.addf %e1, %one : f32
    %g1 = arith.divf %one, %s1 : f32
    %t = math.tanh %g_ : f32
    %a = arith.mulf %g1, %c_ : f32
    %b = arith.mulf %g0, %t : f32
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @terms_the_other_way_round(
// CHECK: linalg.generic
// CHECK: }) {codelet = "lstm_state_f32"
func.func @terms_the_other_way_round(%ii: memref<4xf32, #home>, %ff: memref<4xf32, #home>, %gg: memref<4xf32, #home>, %cc: memref<4xf32, #home>, %to: memref<4xf32, #home>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%ii, %ff, %gg, %cc : memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>) outs(%to : memref<4xf32, #home>) {
  ^bb0(%i_: f32, %f_: f32, %g_: f32, %c_: f32, %old: f32):
    %n0 = arith.negf %i_ : f32
    %e0 = math.exp %n0 : f32
    %s0 = arith.addf %e0, %one : f32
    %g0 = arith.divf %one, %s0 : f32
    %n1 = arith.negf %f_ : f32
    %e1 = math.exp %n1 : f32
    %s1 = arith.addf %e1, %one : f32
    %g1 = arith.divf %one, %s1 : f32
    %t = math.tanh %g_ : f32
    %a = arith.mulf %c_, %g1 : f32
    %b = arith.mulf %t, %g0 : f32
    %r = arith.addf %b, %a : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @what_a_state_lets_out(
// CHECK: linalg.generic
// CHECK: }) {codelet = "lstm_output_f32"
func.func @what_a_state_lets_out(%oo: memref<4xf32, #home>, %cc: memref<4xf32, #home>, %to: memref<4xf32, #home>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%oo, %cc : memref<4xf32, #home>, memref<4xf32, #home>) outs(%to : memref<4xf32, #home>) {
  ^bb0(%o_: f32, %c_: f32, %old: f32):
    %n0 = arith.negf %o_ : f32
    %e0 = math.exp %n0 : f32
    %s0 = arith.addf %e0, %one : f32
    %g0 = arith.divf %one, %s0 : f32
    %t = math.tanh %c_ : f32
    %r = arith.mulf %g0, %t : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @old_and_new_weighed_by_a_gate(
// CHECK: linalg.generic
// CHECK: }) {codelet = "gru_state_f32"
func.func @old_and_new_weighed_by_a_gate(%zz: memref<4xf32, #home>, %hh: memref<4xf32, #home>, %nn: memref<4xf32, #home>, %to: memref<4xf32, #home>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%zz, %hh, %nn : memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>) outs(%to : memref<4xf32, #home>) {
  ^bb0(%z_: f32, %h_: f32, %n_: f32, %old: f32):
    %n0 = arith.negf %z_ : f32
    %e0 = math.exp %n0 : f32
    %s0 = arith.addf %e0, %one : f32
    %g0 = arith.divf %one, %s0 : f32
    %t = math.tanh %n_ : f32
    %a = arith.mulf %g0, %h_ : f32
    %k = arith.subf %one, %g0 : f32
    %b = arith.mulf %k, %t : f32
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @moved_by_a_gate(
// CHECK: linalg.generic
// CHECK: }) {codelet = "gru_state_f32"
func.func @moved_by_a_gate(%zz: memref<4xf32, #home>, %hh: memref<4xf32, #home>, %nn: memref<4xf32, #home>, %to: memref<4xf32, #home>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%zz, %hh, %nn : memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>) outs(%to : memref<4xf32, #home>) {
  ^bb0(%z_: f32, %h_: f32, %n_: f32, %old: f32):
    %n0 = arith.negf %z_ : f32
    %e0 = math.exp %n0 : f32
    %s0 = arith.addf %e0, %one : f32
    %g0 = arith.divf %one, %s0 : f32
    %t = math.tanh %n_ : f32
    %d = arith.subf %h_, %t : f32
    %a = arith.mulf %g0, %d : f32
    %r = arith.addf %a, %t : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @a_gate_with_attention(
// CHECK: linalg.generic
// CHECK: }) {codelet = "gru_state_f32"
func.func @a_gate_with_attention(%zz: memref<4xf32, #home>, %ww: memref<4xf32, #home>, %hh: memref<4xf32, #home>, %nn: memref<4xf32, #home>, %to: memref<4xf32, #home>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%zz, %ww, %hh, %nn : memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>) outs(%to : memref<4xf32, #home>) {
  ^bb0(%z_: f32, %w_: f32, %h_: f32, %n_: f32, %old: f32):
    %k0 = arith.subf %one, %w_ : f32
    %n0 = arith.negf %z_ : f32
    %e0 = math.exp %n0 : f32
    %s0 = arith.addf %e0, %one : f32
    %g0 = arith.divf %one, %s0 : f32
    %z2 = arith.mulf %k0, %g0 : f32
    %t = math.tanh %n_ : f32
    %a = arith.mulf %z2, %h_ : f32
    %k = arith.subf %one, %z2 : f32
    %b = arith.mulf %k, %t : f32
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @a_tanh_by_a_number_is_no_cell(
// CHECK: linalg.generic
// CHECK: }) {codelet = "binary_f32"
func.func @a_tanh_by_a_number_is_no_cell(%oo: memref<4xf32, #home>, %cc: memref<4xf32, #home>, %to: memref<4xf32, #home>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%oo, %cc : memref<4xf32, #home>, memref<4xf32, #home>) outs(%to : memref<4xf32, #home>) {
  ^bb0(%o_: f32, %c_: f32, %old: f32):
    %t = math.tanh %c_ : f32
    %r = arith.mulf %o_, %t : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @a_state_without_what_it_keeps_is_no_cell(
// CHECK: linalg.generic
// CHECK: }) {codelet = "ternary_f32"
func.func @a_state_without_what_it_keeps_is_no_cell(%ii: memref<4xf32, #home>, %gg: memref<4xf32, #home>, %cc: memref<4xf32, #home>, %to: memref<4xf32, #home>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%ii, %gg, %cc : memref<4xf32, #home>, memref<4xf32, #home>, memref<4xf32, #home>) outs(%to : memref<4xf32, #home>) {
  ^bb0(%i_: f32, %g_: f32, %c_: f32, %old: f32):
    %n0 = arith.negf %i_ : f32
    %e0 = math.exp %n0 : f32
    %s0 = arith.addf %e0, %one : f32
    %g0 = arith.divf %one, %s0 : f32
    %t = math.tanh %g_ : f32
    %b = arith.mulf %g0, %t : f32
    %r = arith.addf %c_, %b : f32
    linalg.yield %r : f32
  }
  return
}
