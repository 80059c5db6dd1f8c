// RUN: ipu-opt %s --ipu-check-memory | filecheck %s

// A tile of 1,000 B has room for the argument (256 B), two buffers of 256 B that do not live at the same time, and code.

#home = #ipu.mapping<64, [[64, 64, 1, 0]], 0, 0>
#next = #ipu.mapping<64, [[64, 64, 1, 0]], 0, 1>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, bytes_per_tile = 1000}>} {
  // CHECK-LABEL: func.func @fits
  // CHECK: return
  func.func @fits(%x: memref<64xf32, #home>) -> memref<64xf32, #next> {
    %a = memref.alloc() : memref<64xf32, #next>
    "ipu.exchange"(%x, %a) : (memref<64xf32, #home>, memref<64xf32, #next>) -> ()
    return %a : memref<64xf32, #next>
  }

  // What others call counts where it is called.
  // CHECK-LABEL: func.func private @called
  func.func private @called(%x: memref<640xf32, #ipu.mapping<640, [[640, 640, 1, 0]], 0, 0>>) {
    return
  }
}
