/* How calls name device memory. */

#ifndef CLMOVE_MEMORY_H
#define CLMOVE_MEMORY_H

#include <clmove/export.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

CLMOVE_BEGIN_DECLS

enum {
    CLMOVE_POINTER_SVM = 0 ///< from clSVMAlloc, or any pointer that a device
                           ///< with fine-grained system SVM accepts
};

/// A range of device memory: of a buffer (or sub-buffer), or of a shared
/// virtual memory allocation. All zero: absent.
///
/// Exactly one of `buffer` and `pointer` is set. Objects that outlive a call
/// retain the buffer; SVM cannot be retained, so it must stay allocated until
/// the object is destroyed and its last call has finished.
///
/// Overlap is decided on the root buffer and the origin in it, so a buffer and
/// its sub-buffers may be named side by side. The handle that the caller names
/// is the one that is bound to the kernels; only where two handles of one root
/// really overlap is the root bound instead (using a buffer and its sub-buffer
/// in one command is undefined). Two buffers created over one host pointer are
/// taken as disjoint: the caller promises that they are.
struct clmove_memory {
    cl_mem buffer;         ///< buffer or sub-buffer, else NULL
    void *pointer;         ///< SVM, else NULL
    uint32_t pointer_kind; ///< CLMOVE_POINTER_SVM; others are reserved
    size_t offset;         ///< bytes from the buffer's or pointer's start
    size_t size;           ///< bytes; 0: the rest of the buffer. Required for
                           ///< pointers
};

CLMOVE_END_DECLS

#endif
