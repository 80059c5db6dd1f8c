// RUN: ipu-opt %s --split-input-file --ipu-hoist-borders | filecheck %s

#inner = #ipu.mapping<6, [[3, 6, 1, 1]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>
#padded = #ipu.mapping<8, [[5, 5, 1, 0], [3, 6, 1, 1]], 0, 0>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, name = "ipu2"}>} {
  memref.global "private" constant @zero : memref<1xf32, #one> = dense<0.0>

  // CHECK-LABEL: func.func @border_is_written_before_all_loops
  // CHECK-SAME: (%[[X:.*]]: memref<6xf32
  // CHECK: %[[P:.*]] = memref.alloc() : memref<8xf32
  // CHECK: %[[Z:.*]] = memref.get_global @zero
  // CHECK: %[[B:.*]] = memref.subview %[[P]][0] [1] [1]
  // CHECK: "ipu.exchange"(%[[Z]], %[[B]])
  // CHECK: scf.for
  // CHECK-NEXT: scf.for
  // CHECK-NOT: get_global
  // CHECK: %[[I:.*]] = memref.subview %[[P]][1] [6] [1]
  // CHECK: "ipu.exchange"(%[[X]], %[[I]])
  // CHECK: "ipu.exchange"(%[[P]], %{{.*}})
  func.func @border_is_written_before_all_loops(%x: memref<6xf32, #inner>, %y: memref<8xf32, #inner>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    scf.for %i = %c0 to %c5 step %c1 {
      scf.for %j = %c0 to %c5 step %c1 {
        %p = memref.alloc() : memref<8xf32, #padded>
        %z = memref.get_global @zero : memref<1xf32, #one>
        %b = memref.subview %p[0] [1] [1] : memref<8xf32, #padded> to memref<1xf32, strided<[1]>, #padded>
        "ipu.exchange"(%z, %b) : (memref<1xf32, #one>, memref<1xf32, strided<[1]>, #padded>) -> ()
        %m = memref.subview %p[1] [6] [1] : memref<8xf32, #padded> to memref<6xf32, strided<[1], offset: 1>, #padded>
        "ipu.exchange"(%x, %m) : (memref<6xf32, #inner>, memref<6xf32, strided<[1], offset: 1>, #padded>) -> ()
        "ipu.exchange"(%p, %y) : (memref<8xf32, #padded>, memref<8xf32, #inner>) -> ()
      }
    }
    return
  }

  // CHECK-LABEL: func.func @what_is_written_again_stays
  // CHECK: scf.for
  // CHECK: memref.alloc() : memref<8xf32
  func.func @what_is_written_again_stays(%x: memref<6xf32, #inner>, %y: memref<8xf32, #inner>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    scf.for %i = %c0 to %c5 step %c1 {
      %p = memref.alloc() : memref<8xf32, #padded>
      %z = memref.get_global @zero : memref<1xf32, #one>
      %b = memref.subview %p[1] [1] [1] : memref<8xf32, #padded> to memref<1xf32, strided<[1], offset: 1>, #padded>
      "ipu.exchange"(%z, %b) : (memref<1xf32, #one>, memref<1xf32, strided<[1], offset: 1>, #padded>) -> ()
      "ipu.exchange"(%p, %y) : (memref<8xf32, #padded>, memref<8xf32, #inner>) -> ()
      %m = memref.subview %p[1] [6] [1] : memref<8xf32, #padded> to memref<6xf32, strided<[1], offset: 1>, #padded>
      "ipu.exchange"(%x, %m) : (memref<6xf32, #inner>, memref<6xf32, strided<[1], offset: 1>, #padded>) -> ()
      "ipu.exchange"(%p, %y) : (memref<8xf32, #padded>, memref<8xf32, #inner>) -> ()
    }
    return
  }

  // CHECK-LABEL: func.func @what_a_loop_carries_stays
  // CHECK: scf.for
  // CHECK: memref.alloc() : memref<8xf32
  func.func @what_a_loop_carries_stays(%y: memref<8xf32, #padded>) -> memref<8xf32, #padded> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%q = %y) -> (memref<8xf32, #padded>) {
      %p = memref.alloc() : memref<8xf32, #padded>
      %z = memref.get_global @zero : memref<1xf32, #one>
      %b = memref.subview %p[0] [1] [1] : memref<8xf32, #padded> to memref<1xf32, strided<[1]>, #padded>
      "ipu.exchange"(%z, %b) : (memref<1xf32, #one>, memref<1xf32, strided<[1]>, #padded>) -> ()
      scf.yield %p : memref<8xf32, #padded>
    }
    return %r : memref<8xf32, #padded>
  }
}

// -----

#inner = #ipu.mapping<6, [[3, 6, 1, 1]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>
#padded = #ipu.mapping<8, [[5, 5, 1, 0], [3, 6, 1, 1]], 0, 0>
#large = #ipu.mapping<20, [[10, 20, 1, 1]], 0, 0>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, name = "ipu2", bytes_per_tile = 128}>} {
  memref.global "private" constant @zero : memref<1xf32, #one> = dense<0.0>

  // CHECK-LABEL: func.func @what_would_take_memory_while_another_buffer_lives_stays
  // CHECK: scf.for
  // CHECK: memref.alloc() : memref<8xf32
  func.func @what_would_take_memory_while_another_buffer_lives_stays(%x: memref<6xf32, #inner>, %y: memref<8xf32, #inner>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    scf.for %i = %c0 to %c5 step %c1 {
      %p = memref.alloc() : memref<8xf32, #padded>
      %z = memref.get_global @zero : memref<1xf32, #one>
      %b = memref.subview %p[0] [1] [1] : memref<8xf32, #padded> to memref<1xf32, strided<[1]>, #padded>
      "ipu.exchange"(%z, %b) : (memref<1xf32, #one>, memref<1xf32, strided<[1]>, #padded>) -> ()
      %m = memref.subview %p[1] [6] [1] : memref<8xf32, #padded> to memref<6xf32, strided<[1], offset: 1>, #padded>
      "ipu.exchange"(%x, %m) : (memref<6xf32, #inner>, memref<6xf32, strided<[1], offset: 1>, #padded>) -> ()
      "ipu.exchange"(%p, %y) : (memref<8xf32, #padded>, memref<8xf32, #inner>) -> ()
      %l = memref.alloc() : memref<20xf32, #large>
      %s = memref.subview %l[0] [8] [1] : memref<20xf32, #large> to memref<8xf32, strided<[1]>, #large>
      "ipu.exchange"(%y, %s) : (memref<8xf32, #inner>, memref<8xf32, strided<[1]>, #large>) -> ()
    }
    return
  }
}
