/* The status codes that every call of clmove returns. */

#ifndef CLMOVE_STATUS_H
#define CLMOVE_STATUS_H

#include <clmove/export.h>

CLMOVE_BEGIN_DECLS

/// The result of a call: 0, a code of OpenCL (CL_*, passed on unchanged), or
/// one of the codes below, which lie outside OpenCL's ranges. The sentence that
/// names the argument, its value and the bound goes to the log callback.
///
/// Unless a call says otherwise, a status other than 0 means that nothing was
/// enqueued, created or written.
typedef int clmove_status;

enum {
    CLMOVE_SUCCESS = 0,

    /// An argument is NULL, out of its domain, or contradicts another one.
    CLMOVE_INVALID_ARGUMENT = -7000,

    /// A range reaches past the memory that holds it, or its end overflows.
    CLMOVE_OUT_OF_RANGE = -7001,

    /// Two ranges overlap that must not.
    CLMOVE_OVERLAP = -7002,

    /// The memory's access flags or its kind forbid what the call would do.
    CLMOVE_ACCESS_DENIED = -7003,

    /// The queue belongs to another context or device, or lives on the device.
    CLMOVE_WRONG_QUEUE = -7004,

    /// No device answers the selection.
    CLMOVE_NO_DEVICE = -7005,

    /// Several devices answer the selection.
    CLMOVE_AMBIGUOUS_DEVICE = -7006,

    /// The device lacks something that clmove needs; the log names it.
    CLMOVE_UNSUPPORTED_DEVICE = -7007,

    /// Well-formed, but not available here (a kind of memory, a size).
    CLMOVE_UNSUPPORTED = -7008,

    /// The kernel text was not found in the given folder.
    CLMOVE_NO_KERNEL_TEXT = -7009,

    /// The device's compiler refused the kernel text; the log has all it said.
    CLMOVE_BUILD_FAILED = -7010,

    /// A call of several commands failed after the first was enqueued. The
    /// event, if one was asked for, covers what was enqueued. The log has the
    /// OpenCL code.
    CLMOVE_PARTLY_ENQUEUED = -7011
};

/// The name of a status, OpenCL's ("CL_INVALID_VALUE") and clmove's
/// ("CLMOVE_OVERLAP") alike; "unknown status" for any other number. The string
/// is static.
CLMOVE_API const char *clmove_status_name(clmove_status status);

CLMOVE_END_DECLS

#endif
