// RUN: ipu-opt %s --ipu-batch-iterations --split-input-file | filecheck %s

// Loops that stay as they are: an iteration waits for another, or there is too much of them.

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>

// The element before is read; places are met twice, or end beyond the buffer, so that the last slice is moved.
// CHECK-LABEL: func.func @slices
// CHECK-COUNT-3: scf.for
func.func @slices(%x: memref<8xf32>, %y: memref<8xf32>, %v: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c1 to %c8 step %c1 {
    %before = arith.subi %i, %c1 : index
    %old = memref.load %x[%before] : memref<8xf32>
    %new = math.exp %old : f32
    linalg.generic {indexing_maps = [#all, #all, #id], iterator_types = ["parallel"], library_call = "update_slice"}
        ins(%i, %new : index, f32) outs(%x : memref<8xf32>) {
    ^bb0(%a: index, %b: f32, %o: f32):
      linalg.yield %o : f32
    }
  }
  scf.for %i = %c0 to %c7 step %c1 {
    %low = arith.minsi %i, %c2 : index
    %n = memref.load %y[%i] : memref<8xf32>
    linalg.generic {indexing_maps = [#all, #all, #id], iterator_types = ["parallel"], library_call = "update_slice"}
        ins(%low, %n : index, f32) outs(%x : memref<8xf32>) {
    ^bb0(%a: index, %b: f32, %o: f32):
      linalg.yield %o : f32
    }
  }
  scf.for %i = %c0 to %c8 step %c2 {
    %at = arith.addi %i, %c1 : index
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"], library_call = "update_slice"}
        ins(%at, %v : index, memref<2xf32>) outs(%x : memref<8xf32>) {
    ^bb0(%a: index, %b: f32, %o: f32):
      linalg.yield %o : f32
    }
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// A sum that is scaled, one that another op reads, one of numbers that are the same every time.
// CHECK-LABEL: func.func @sums
// CHECK-COUNT-3: scf.for
func.func @sums(%x: memref<6x4xf32>, %a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %seen: memref<6x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    %e = memref.load %x[%i, %c0] : memref<6x4xf32>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<4xf32>) {
    ^bb0(%o: f32):
      %s = arith.addf %o, %e : f32
      %t = math.tanh %s : f32
      linalg.yield %t : f32
    }
  }
  scf.for %i = %c0 to %c6 step %c1 {
    %e = memref.load %x[%i, %c0] : memref<6x4xf32>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%b : memref<4xf32>) {
    ^bb0(%o: f32):
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
    }
    %n = memref.load %b[%c1] : memref<4xf32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], library_call = "update_slice"}
        ins(%i, %c0, %n : index, index, f32) outs(%seen : memref<6x4xf32>) {
    ^bb0(%p: index, %q: index, %r: f32, %o: f32):
      linalg.yield %o : f32
    }
  }
  scf.for %i = %c0 to %c6 step %c1 {
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : memref<4xf32>) outs(%c : memref<4xf32>) {
    ^bb0(%e: f32, %o: f32):
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Thousands of numbers in an iteration; effects; an op that only checks.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: scf.for
func.func @others(%x: memref<6x5000xf32>, %out: memref<5000xf32>, %small: memref<6xf32>, %sum: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    %row = memref.alloc() : memref<5000xf32>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%row : memref<5000xf32>) {
    ^bb0(%o: f32):
      %j = linalg.index 0 : index
      %e = memref.load %x[%i, %j] : memref<6x5000xf32>
      linalg.yield %e : f32
    }
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%row : memref<5000xf32>) outs(%out : memref<5000xf32>) {
    ^bb0(%e: f32, %o: f32):
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
    }
  }
  scf.for %i = %c0 to %c6 step %c1 {
    %e = memref.load %small[%i] : memref<6xf32>
    %is = arith.cmpf oeq, %e, %e : f32
    cf.assert %is, "a number"
    linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%sum : memref<f32>) {
    ^bb0(%o: f32):
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
    }
  }
  scf.for %i = %c0 to %c6 step %c1 {
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} ins(%small : memref<6xf32>) {
    ^bb0(%e: f32):
      %is = arith.cmpf oeq, %e, %e : f32
      cf.assert %is, "a number"
      linalg.yield
    }
  }
  return
}
