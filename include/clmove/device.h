/* Finding and choosing an OpenCL device. */

#ifndef CLMOVE_DEVICE_H
#define CLMOVE_DEVICE_H

#include <clmove/log.h>
#include <clmove/memory.h>
#include <clmove/status.h>

CLMOVE_BEGIN_DECLS

/// What clmove wants to know of a device. Plain data: copy it freely.
struct clmove_device_info {
    cl_platform_id platform;
    cl_device_id device;
    uint32_t platform_index; ///< as `clinfo -l` numbers them: platforms that
                             ///< have no device are counted
    uint32_t device_index;   ///< within its platform
    cl_device_type type;     ///< a mask: test with &, never with ==
    char name[256];          ///< the device's name, spaces at its ends removed
    char vendor[128];
    char platform_name[128];
    char version[128];         ///< CL_DEVICE_VERSION
    char driver_version[128];  ///< CL_DRIVER_VERSION
    char c_version[128];       ///< CL_DEVICE_OPENCL_C_VERSION
    uint32_t version_number;   ///< of the device: 100 * major + 10 * minor
    uint32_t c_version_number; ///< of its OpenCL C, in the same form
    uint32_t compute_units;
    uint32_t address_bits;     ///< 32 or 64
    uint32_t base_align_bits;  ///< CL_DEVICE_MEM_BASE_ADDR_ALIGN
    size_t max_group_size;     ///< work-items in a work-group
    size_t max_parameter_size; ///< bytes of kernel arguments
    uint64_t local_size;       ///< bytes of local memory of a work-group
    uint64_t global_size;      ///< bytes
    uint64_t max_allocation;   ///< bytes of one buffer
    uint64_t svm;              ///< CL_DEVICE_SVM_CAPABILITIES; 0 below 2.0
    /// NULL: clmove can use it. Otherwise why not, as the end of a sentence
    /// ("its OpenCL C is older than 1.2"). The string is static.
    const char *unsupported;
};

/// Lists every device of every platform, in `clinfo -l` order.
///
/// *infos receives an array of *count entries that the caller gives to
/// clmove_device_list_free. No platform or no device is a success with *count
/// 0 and *infos NULL; a platform whose query fails is skipped with a warning.
///
/// Returns CLMOVE_INVALID_ARGUMENT for NULL, CL_OUT_OF_HOST_MEMORY.
CLMOVE_API clmove_status clmove_device_list(const struct clmove_log *log,
                                            struct clmove_device_info **infos,
                                            size_t *count);

/// Frees the array of clmove_device_list and sets *infos to NULL. NULL is
/// fine.
CLMOVE_API void clmove_device_list_free(struct clmove_device_info **infos);

/// Selects one device. `selection` is one of
///
///     NULL or ""    the environment's CLMOVE_DEVICE if set and not empty, else
///                   the first usable device in the order gpu, accelerator, cpu
///     "gpu" "accelerator" "cpu"
///                   the first usable device of that type, and no other
///     "P:D"         device D of platform P, as `clinfo -l` numbers them
///     other text    a part of the device's or the platform's name, in any
///                   case; refused when several devices contain it
///
/// There is no silent fallback: a selection that nothing answers is refused.
/// Whatever is refused lists the devices there are in the log.
///
/// `log` may be NULL. Nothing is retained: device handles of platforms live as
/// long as the process.
///
/// Returns CLMOVE_NO_DEVICE (nothing there, or nothing that fits),
/// CLMOVE_AMBIGUOUS_DEVICE, CLMOVE_UNSUPPORTED_DEVICE (the one that was named
/// cannot be used), CLMOVE_INVALID_ARGUMENT for `info` NULL.
CLMOVE_API clmove_status clmove_device_select(const char *selection,
                                              const struct clmove_log *log,
                                              struct clmove_device_info *info);

/// Fills `info` for a device that the host already has. platform_index and
/// device_index are those of clmove_device_list, or UINT32_MAX for a device
/// that is not listed (a sub-device).
///
/// Returns CLMOVE_INVALID_ARGUMENT for `info` NULL, or OpenCL's code for a
/// handle that is no device.
CLMOVE_API clmove_status
clmove_device_describe(cl_device_id device, struct clmove_device_info *info);

CLMOVE_END_DECLS

#endif
