// RUN: ipu-opt %s --ipu-divide-branches=most=2 | filecheck %s
// RUN: ipu-opt %s --ipu-divide-branches=most=2 --ipu-rejoin-branches | filecheck %s --check-prefix=JOINED
// RUN: ipu-opt %s --ipu-divide-branches | filecheck %s --check-prefix=JOINED

// JOINED-NOT: ipu.divided
// JOINED-NOT: func.call

// CHECK-LABEL: func.func private @ipu.divided.1
// CHECK-SAME: tensor<4xf32>, %{{[a-z0-9]+}}: i1) -> tensor<4xf32> attributes {ipu.divided}
// CHECK-COUNT-2: scf.if

// The tensor that is read behind the outer branch must not be written in the function; the other one may.
// CHECK-LABEL: func.func private @ipu.divided.0
// CHECK-SAME: tensor<4xf32>, %{{[a-z0-9]+}}: i1, %{{[a-z0-9]+}}: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32> attributes {ipu.divided}
// CHECK: tensor.extract_slice
// CHECK: scf.if

// CHECK-LABEL: func.func @three_inside_each_other
// CHECK: scf.if
// CHECK: %[[A:.*]] = func.call @ipu.divided.1(
// CHECK: scf.yield %[[A]]
// JOINED-LABEL: func.func @three_inside_each_other
// JOINED-COUNT-3: scf.if
func.func @three_inside_each_other(%p: i1, %q: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %p -> (tensor<4xf32>) {
    %s = scf.if %q -> (tensor<4xf32>) {
      %t = scf.if %p -> (tensor<4xf32>) {
        %a = math.exp %x : tensor<4xf32>
        scf.yield %a : tensor<4xf32>
      } else {
        %a = math.sin %x : tensor<4xf32>
        scf.yield %a : tensor<4xf32>
      }
      scf.yield %t : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_view_goes_along
// CHECK: func.call @ipu.divided.0(
// JOINED-LABEL: func.func @a_view_goes_along
// JOINED-COUNT-3: scf.if
func.func @a_view_goes_along(%p: i1, %q: i1, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %z = math.cos %y : tensor<4xf32>
  %part = tensor.extract_slice %z[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %r = scf.if %p -> (tensor<4xf32>) {
    %s = scf.if %q -> (tensor<4xf32>) {
      %t = scf.if %p -> (tensor<4xf32>) {
        %a = tensor.insert_slice %part into %x[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
        scf.yield %a : tensor<4xf32>
      } else {
        scf.yield %z : tensor<4xf32>
      }
      scf.yield %t : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %w = math.sin %z : tensor<4xf32>
  return %r, %w : tensor<4xf32>, tensor<4xf32>
}

// A part of a tensor would be copied where a function gives it.
// CHECK-LABEL: func.func @what_gives_a_part_stays
// CHECK-NOT: func.call
// CHECK: return
func.func @what_gives_a_part_stays(%p: i1, %q: i1, %x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %r = scf.if %p -> (tensor<2xf32>) {
    %s = scf.if %q -> (tensor<2xf32>) {
      %t = scf.if %p -> (tensor<2xf32>) {
        %a = math.exp %y : tensor<2xf32>
        scf.yield %a : tensor<2xf32>
      } else {
        scf.yield %y : tensor<2xf32>
      }
      scf.yield %t : tensor<2xf32>
    } else {
      %part = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
      scf.yield %part : tensor<2xf32>
    }
    scf.yield %s : tensor<2xf32>
  } else {
    scf.yield %y : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
