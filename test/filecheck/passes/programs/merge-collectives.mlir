// RUN: ipu-opt %s --pass-pipeline="builtin.module(ipu-merge-collectives{max-bytes=80})" | filecheck %s
// RUN: ipu-opt %s --ipu-merge-collectives | filecheck %s --check-prefix=ALONE
// RUN: ipu-opt %s --pass-pipeline="builtin.module(ipu-merge-collectives{all-reduce-bytes=64})" | filecheck %s --check-prefix=KINDS
// RUN: ipu-opt %s --pass-pipeline="builtin.module(ipu-merge-collectives{inter-ipu-bytes=64})" | filecheck %s --check-prefix=LINKS

#home = #ipu.mapping<8, [[2, 8, 1, 1]], 0, 0>
#one = #ipu.mapping<8, [[8, 8, 1, 0]], 0, 1>


// Two of 32 bytes wait for each other past an exchange of something else; a third one would be too much.
// CHECK-LABEL: func.func @waiting
// CHECK: "ipu.exchange"(%arg0, %{{.*}})
// CHECK-NEXT: "ipu.collective"(%arg0, %[[A:[^)]*]]) {kind = "all_reduce", op = "add"}
// CHECK-NEXT: "ipu.collective"(%arg1, %[[B:[^)]*]]) {ipu.merged, kind = "all_reduce", op = "add"}
// CHECK-NEXT: "ipu.collective"(%arg0, %{{.*}}) {kind = "broadcast"}
func.func @waiting(%x: memref<8xf32, #home>, %y: memref<8xf32, #home>) {
  %a = memref.alloc() : memref<8xf32, #home>
  %b = memref.alloc() : memref<8xf32, #home>
  %c = memref.alloc() : memref<8xf32, #home>
  %d = memref.alloc() : memref<8xf32, #one>
  "ipu.collective"(%x, %a) {kind = "all_reduce", op = "add"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  "ipu.exchange"(%x, %d) : (memref<8xf32, #home>, memref<8xf32, #one>) -> ()
  "ipu.collective"(%y, %b) {kind = "all_reduce", op = "add"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  "ipu.collective"(%x, %c) {kind = "broadcast"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  return
}

// One whose result is read is there before.
// CHECK-LABEL: func.func @needed
// CHECK: "ipu.collective"
// CHECK-NEXT: "ipu.exchange"
// CHECK-NEXT: "ipu.collective"
// CHECK-NOT: ipu.merged
func.func @needed(%x: memref<8xf32, #home>, %y: memref<8xf32, #home>) {
  %a = memref.alloc() : memref<8xf32, #home>
  %b = memref.alloc() : memref<8xf32, #home>
  %d = memref.alloc() : memref<8xf32, #one>
  "ipu.collective"(%x, %a) {kind = "all_reduce", op = "add"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  "ipu.exchange"(%a, %d) : (memref<8xf32, #home>, memref<8xf32, #one>) -> ()
  "ipu.collective"(%y, %b) {kind = "all_reduce", op = "add"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  "ipu.collective"(%b, %a) {kind = "broadcast"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  return
}

// Kinds with a limit of their own wait for their own kind, past those of others.
// CHECK-LABEL: func.func @kinds
// KINDS-LABEL: func.func @kinds
// KINDS: "ipu.collective"(%arg0, %{{.*}}) {kind = "broadcast"}
// KINDS-NEXT: "ipu.collective"(%arg0, %{{.*}}) {kind = "all_reduce", op = "add"}
// KINDS-NEXT: "ipu.collective"(%arg1, %{{.*}}) {ipu.merged, kind = "all_reduce", op = "add"}
// KINDS-NEXT: "ipu.collective"(%arg1, %{{.*}}) {kind = "broadcast"}
func.func @kinds(%x: memref<8xf32, #home>, %y: memref<8xf32, #home>) {
  %a = memref.alloc() : memref<8xf32, #home>
  %b = memref.alloc() : memref<8xf32, #home>
  %c = memref.alloc() : memref<8xf32, #home>
  %d = memref.alloc() : memref<8xf32, #home>
  "ipu.collective"(%x, %a) {kind = "all_reduce", op = "add"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  "ipu.collective"(%x, %c) {kind = "broadcast"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  "ipu.collective"(%y, %b) {kind = "all_reduce", op = "add"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  "ipu.collective"(%y, %d) {kind = "broadcast"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  return
}

// Exchanges between IPUs wait for each other up to so many bytes, and until somebody reads what they bring.
// LINKS-LABEL: func.func @between_ipus
// LINKS: "ipu.exchange"(%arg0, %[[A:[^)]*]]) {ipu.links}
// LINKS-NEXT: "ipu.exchange"(%arg1, %[[B:[^)]*]]) {ipu.links, ipu.merged}
// LINKS-NEXT: "ipu.exchange"(%arg0, %{{.*}}) {ipu.links} :
// LINKS-NEXT: "ipu.exchange"(%{{.*}}, %{{.*}}) : (
// LINKS-NEXT: "ipu.exchange"(%arg1, %{{.*}}) {ipu.links} :

// Without a number of bytes only neighbours share a sync, and collectives do not.
// ALONE-NOT: ipu.merged
// ALONE-LABEL: func.func @between_ipus
// ALONE: "ipu.exchange"(%arg0, %{{.*}}) {ipu.links} :
// ALONE-NEXT: "ipu.exchange"(%arg1, %{{.*}}) {ipu.links, ipu.merged} :
// ALONE-NEXT: "ipu.exchange"(%arg0, %{{.*}}) {ipu.links, ipu.merged} :
// ALONE-NEXT: "ipu.exchange"(%{{.*}}, %{{.*}}) : (
// ALONE-NEXT: "ipu.exchange"(%arg1, %{{.*}}) {ipu.links} :
// ALONE-NOT: ipu.merged
func.func @between_ipus(%x: memref<8xf32, #home>, %y: memref<8xf32, #home>) {
  %a = memref.alloc() : memref<8xf32, #one>
  %b = memref.alloc() : memref<8xf32, #one>
  %c = memref.alloc() : memref<8xf32, #one>
  %d = memref.alloc() : memref<8xf32, #home>
  "ipu.exchange"(%x, %a) {ipu.links} : (memref<8xf32, #home>, memref<8xf32, #one>) -> ()
  "ipu.exchange"(%y, %b) {ipu.links} : (memref<8xf32, #home>, memref<8xf32, #one>) -> ()
  "ipu.exchange"(%x, %c) {ipu.links} : (memref<8xf32, #home>, memref<8xf32, #one>) -> ()
  "ipu.exchange"(%c, %d) : (memref<8xf32, #one>, memref<8xf32, #home>) -> ()
  "ipu.exchange"(%y, %a) {ipu.links} : (memref<8xf32, #home>, memref<8xf32, #one>) -> ()
  return
}
