// RUN: ipu-opt %s --ipu-raise-counted-loops --canonicalize | filecheck %s

// JAX and TensorFlow wrap the counter in a tensor.
// CHECK-LABEL: func.func @counter_in_a_tensor
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-DAG:  %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:  %[[TEN:.*]] = arith.constant 10 : index
// CHECK-DAG:  %[[ONE:.*]] = arith.constant 1 : index
// CHECK:      %[[R:.*]] = scf.for %{{.*}} = %[[ZERO]] to %[[TEN]] step %[[ONE]] iter_args(%[[A:.*]] = %[[X]]) -> (tensor<4xf32>)
// CHECK-NEXT:   %[[B:.*]] = math.sin %[[A]]
// CHECK-NEXT:   scf.yield %[[B]]
// CHECK:      return %[[R]]
func.func @counter_in_a_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c10 = arith.constant dense<10> : tensor<i32>
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%i = %c0, %a = %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<i1>
    %lt = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
        ins(%i, %c10 : tensor<i32>, tensor<i32>) outs(%e : tensor<i1>) {
    ^bb0(%p: i32, %q: i32, %o: i1):
      %c = arith.cmpi slt, %p, %q : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %cond = tensor.extract %lt[] : tensor<i1>
    scf.condition(%cond) %i, %a : tensor<i32>, tensor<4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %b = math.sin %a : tensor<4xf32>
    %s = tensor.extract %i[] : tensor<i32>
    %n = arith.addi %s, %c1 : i32
    %t = tensor.from_elements %n : tensor<i32>
    scf.yield %t, %b : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// What the counter is in an iteration, and after the last one: 3, 5, 7, then 9.
// CHECK-LABEL: func.func @steps_of_two
// CHECK-DAG:  %[[LAST:.*]] = arith.constant 9 : i64
// CHECK-DAG:  %[[LOW:.*]] = arith.constant 3 : index
// CHECK-DAG:  %[[HIGH:.*]] = arith.constant 8 : index
// CHECK-DAG:  %[[STEP:.*]] = arith.constant 2 : index
// CHECK:      %[[R:.*]] = scf.for %[[I:.*]] = %[[LOW]] to %[[HIGH]] step %[[STEP]] iter_args(%[[S:.*]] = %{{.*}}) -> (i64)
// CHECK-NEXT:   %[[N:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:   %[[SUM:.*]] = arith.addi %[[S]], %[[N]]
// CHECK-NEXT:   scf.yield %[[SUM]]
// CHECK:      return %[[R]], %[[LAST]]
func.func @steps_of_two(%x: i64) -> (i64, i64) {
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c7 = arith.constant 7 : i64
  %r:2 = scf.while (%s = %x, %i = %c3) : (i64, i64) -> (i64, i64) {
    %c = arith.cmpi sge, %c7, %i : i64
    scf.condition(%c) %s, %i : i64, i64
  } do {
  ^bb0(%s: i64, %i: i64):
    %sum = arith.addi %s, %i : i64
    %n = arith.addi %c2, %i : i64
    scf.yield %sum, %n : i64, i64
  }
  return %r#0, %r#1 : i64, i64
}

// Two counters that run alike, each with a limit: the lower one decides. One that steps otherwise, one that falls and
// one that would leave 8 bits: the last one stays.
// CHECK-LABEL: func.func @lowest_limit
// CHECK-DAG:  %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG:  %[[FIVE:.*]] = arith.constant 5 : index
// CHECK-DAG:  %[[TWENTY:.*]] = arith.constant 20 : i32
// CHECK-DAG:  %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK:      %[[SUMS:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %[[FOUR]] step %{{.*}} iter_args(%{{.*}}, %[[H:.*]] = %{{.*}}) -> (i32, i8)
// CHECK:        arith.muli %[[I]], %[[FIVE]]
// CHECK:        arith.subi %[[FOUR]], %[[I]]
// CHECK:        arith.addi %[[H]]
// CHECK:      return %[[SUMS]]#0, %[[TWENTY]], %[[ZERO]], %[[SUMS]]#1
func.func @lowest_limit() -> (i32, i32, i32, i8) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c100 = arith.constant 100 : i8
  %r:6 = scf.while (%i = %c0, %k = %c0, %s = %c0, %j = %c0, %f = %c4, %h = %c100) : (i32, i32, i32, i32, i32, i8) -> (i32, i32, i32, i32, i32, i8) {
    %a = arith.cmpi slt, %i, %c5 : i32
    %b = arith.cmpi slt, %k, %c4 : i32
    %c = arith.andi %a, %b : i1
    scf.condition(%c) %i, %k, %s, %j, %f, %h : i32, i32, i32, i32, i32, i8
  } do {
  ^bb0(%i: i32, %k: i32, %s: i32, %j: i32, %f: i32, %h: i8):
    %n = arith.addi %i, %c1 : i32
    %m = arith.addi %k, %c1 : i32
    %o = arith.addi %j, %c5 : i32
    %g = arith.subi %f, %c1 : i32
    %p = arith.muli %j, %f : i32
    %t = arith.addi %s, %p : i32
    %q = arith.addi %h, %c100 : i8
    scf.yield %n, %m, %t, %o, %g, %q : i32, i32, i32, i32, i32, i8
  }
  return %r#2, %r#3, %r#4, %r#5 : i32, i32, i32, i8
}

// A loop that does not run leaves everything as it was, the counter too.
// CHECK-LABEL: func.func @no_round
// CHECK-DAG:  %[[SEVEN:.*]] = arith.constant 7 : i32
// CHECK:      return %[[SEVEN]]
func.func @no_round() -> i32 {
  %c7 = arith.constant 7 : i32
  %c5 = arith.constant 5 : i32
  %r = scf.while (%i = %c7) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %c5 : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %n = arith.addi %i, %c5 : i32
    scf.yield %n : i32
  }
  return %r : i32
}

// What grows by as much is the counter and what it began with more, in the loop and after it: 1 + 4.
// CHECK-LABEL: func.func @another_beginning
// CHECK-DAG:  %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:  %[[LAST:.*]] = arith.constant 5 : i64
// CHECK:      %[[R:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (i64)
// CHECK-NEXT:   %[[NEXT:.*]] = arith.addi %[[I]], %[[ONE]] : index
// CHECK-NEXT:   %[[J:.*]] = arith.index_cast %[[NEXT]] : index to i64
// CHECK-NEXT:   %[[B:.*]] = arith.muli %[[A]], %[[J]] : i64
// CHECK-NEXT:   scf.yield %[[B]]
// CHECK:      return %[[R]], %[[LAST]]
func.func @another_beginning(%x: i64) -> (i64, i64) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %step = arith.constant 1 : i32
  %c1 = arith.constant 1 : i64
  %r:3 = scf.while (%i = %c0, %j = %c1, %a = %x) : (i32, i64, i64) -> (i32, i64, i64) {
    %c = arith.cmpi slt, %i, %c4 : i32
    scf.condition(%c) %i, %j, %a : i32, i64, i64
  } do {
  ^bb0(%i: i32, %j: i64, %a: i64):
    %b = arith.muli %a, %j : i64
    %n = arith.addi %i, %step : i32
    %m = arith.addi %j, %c1 : i64
    scf.yield %n, %m, %b : i32, i64, i64
  }
  return %r#2, %r#1 : i64, i64
}
