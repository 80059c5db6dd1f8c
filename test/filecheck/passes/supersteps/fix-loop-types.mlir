// RUN: ipu-opt %s --ipu-fix-loop-types | filecheck %s
// RUN: ipu-opt %s --ipu-fix-loop-types "--inline=default-pipeline=" | filecheck %s --check-prefix=INLINED

// CHECK-LABEL: func.func private @ipu.same.0(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: func.func @five_loops
// CHECK-COUNT-4: scf.for
// CHECK: %[[BEGIN:.*]] = func.call @ipu.same.0(%[[A:.*]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: scf.for {{.*}} iter_args(%{{.*}} = %[[BEGIN]])

// INLINED-NOT: ipu.same
// INLINED-LABEL: func.func @five_loops
// INLINED-NOT: func.call
func.func @five_loops(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r0 = scf.for %i0 = %c0 to %n step %c1 iter_args(%a0 = %x) -> (tensor<4xf32>) {
    %r1 = scf.for %i1 = %c0 to %n step %c1 iter_args(%a1 = %a0) -> (tensor<4xf32>) {
      %r2 = scf.for %i2 = %c0 to %n step %c1 iter_args(%a2 = %a1) -> (tensor<4xf32>) {
        %r3 = scf.for %i3 = %c0 to %n step %c1 iter_args(%a3 = %a2) -> (tensor<4xf32>) {
          %r4 = scf.for %i4 = %c0 to %n step %c1 iter_args(%a4 = %a3) -> (tensor<4xf32>) {
            %s = arith.addf %a4, %x : tensor<4xf32>
            scf.yield %s : tensor<4xf32>
          }
          scf.yield %r4 : tensor<4xf32>
        }
        scf.yield %r3 : tensor<4xf32>
      }
      scf.yield %r2 : tensor<4xf32>
    }
    scf.yield %r1 : tensor<4xf32>
  }
  return %r0 : tensor<4xf32>
}

// The loops inside begin with calls, too, when those around them do.
// CHECK-LABEL: func.func @seven_loops
// CHECK-COUNT-4: scf.for
// CHECK-COUNT-3: func.call @ipu.same.0
// CHECK-NOT: func.call
func.func @seven_loops(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r0 = scf.for %i0 = %c0 to %n step %c1 iter_args(%a0 = %x) -> (tensor<4xf32>) {
    %r1 = scf.for %i1 = %c0 to %n step %c1 iter_args(%a1 = %a0) -> (tensor<4xf32>) {
      %r2 = scf.for %i2 = %c0 to %n step %c1 iter_args(%a2 = %a1) -> (tensor<4xf32>) {
        %r3 = scf.for %i3 = %c0 to %n step %c1 iter_args(%a3 = %a2) -> (tensor<4xf32>) {
          %r4 = scf.for %i4 = %c0 to %n step %c1 iter_args(%a4 = %a3) -> (tensor<4xf32>) {
            %r5 = scf.for %i5 = %c0 to %n step %c1 iter_args(%a5 = %a4) -> (tensor<4xf32>) {
              %r6 = scf.for %i6 = %c0 to %n step %c1 iter_args(%a6 = %a5) -> (tensor<4xf32>) {
                %s = arith.addf %a6, %x : tensor<4xf32>
                scf.yield %s : tensor<4xf32>
              }
              scf.yield %r6 : tensor<4xf32>
            }
            scf.yield %r5 : tensor<4xf32>
          }
          scf.yield %r4 : tensor<4xf32>
        }
        scf.yield %r3 : tensor<4xf32>
      }
      scf.yield %r2 : tensor<4xf32>
    }
    scf.yield %r1 : tensor<4xf32>
  }
  return %r0 : tensor<4xf32>
}
