/* The engine: one device of one context, with clmove's programs built for it.
 */

#ifndef CLMOVE_ENGINE_H
#define CLMOVE_ENGINE_H

#include <clmove/device.h>

CLMOVE_BEGIN_DECLS

/// The programs of one device in one context. Lives inside the host's own
/// context; the host keeps its queues, buffers and events. clmove never
/// creates a queue, never calls clFinish, never blocks in an enqueue call.
///
/// Any number of threads may use one engine at once. Objects made from an
/// engine keep what they need of it: they may be destroyed after it.
struct clmove_engine;

/// What an engine is for, a mask. Programs of other parts are not built, and
/// their calls are refused.
enum clmove_part {
    CLMOVE_PART_MOVES = 1, ///< clmove/move.h
    CLMOVE_PART_STATES = 2 ///< clmove/ssm.h
};

/// How to make an engine. A zero field means the default.
struct clmove_engine_params {
    cl_context context;  ///< required; retained
    cl_device_id device; ///< required; one of the context's, sub-devices too
    struct clmove_log log;
    uint32_t parts; ///< enum clmove_part; 0: all
    /// A folder with all the files of cl/, which replace the built-in text.
    /// NULL: the environment's CLMOVE_KERNEL_DIR, and if that is not set
    /// either, or "": the text that is part of the library.
    const char *kernel_directory;
    /// Work-items in a work-group. 0: the environment's CLMOVE_GROUP_SIZE, else
    /// what suits the device. Clamped to what the device and the kernel allow;
    /// every value from 1 up gives the same bytes.
    uint32_t group_size;
    /// Work-groups of a launch that copies states, or moves entries listed on
    /// the device. Other moves take a group for each piece. 0: the
    /// environment's CLMOVE_GROUP_COUNT, else what suits the device. At most
    /// 1048576; every value from 1 up gives the same bytes.
    uint32_t group_count;
    /// Bytes that one group moves before it takes the next piece. 0: the
    /// environment's CLMOVE_TILE_SIZE, else what suits the device. 16 to
    /// 1073741824, rounded up to a multiple of 16. Every value gives the same
    /// bytes.
    uint32_t tile_size;
    /// A folder that keeps compiled programs for later runs. NULL: the
    /// environment's CLMOVE_CACHE_DIR, and if that is not set either, none; ""
    /// or "off": none. If only its last part is missing, it is made, with mode
    /// 0700. Engines of any number of threads and processes may share one.
    ///
    /// A folder that cannot be used, or takes no files, gives one warning in
    /// the log, and programs are compiled. An entry that is damaged, or that
    /// the driver refuses, is replaced. Other drivers, devices, kernel texts,
    /// build options or versions of clmove never use each other's entries. The
    /// entries used longest ago are removed when all together exceed 64 MiB.
    /// Programs run as they are found there: let nobody else write into it.
    /// PoCL has a cache of its own, so there the folder is not used.
    const char *cache_directory;
};

/// What an engine decided for its device.
struct clmove_engine_info {
    struct clmove_device_info device;
    uint32_t group_size; ///< work-items in a group, before a kernel's own limit
    uint32_t group_count; ///< work-groups of a launch that copies states
    uint32_t tile_size;   ///< bytes that one group moves before it takes the
                          ///< next tile
    uint32_t slice_rows;  ///< requests whose decisions fit local memory at once
    uint32_t uses_cache;  ///< 1: programs are kept in a cache folder, else 0
    uint32_t programs_cached; ///< programs taken from that folder so far
    uint32_t programs_built;  ///< programs compiled so far
};

/// Creates an engine with its programs. To build them may take a second; to
/// take them from a cache folder, milliseconds.
///
/// *engine receives the object, or NULL on failure.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, a device outside the context, an
/// unknown part, a group count or tile size out of range, a wrong value in the
/// environment), CLMOVE_UNSUPPORTED_DEVICE, CLMOVE_NO_KERNEL_TEXT,
/// CLMOVE_BUILD_FAILED (the log receives the compiler's whole output), OpenCL's
/// codes.
CLMOVE_API clmove_status clmove_engine_create(
    const struct clmove_engine_params *params, struct clmove_engine **engine);

/// Destroys an engine and sets *engine to NULL. NULL and a pointer to NULL are
/// fine. Commands that were enqueued finish as usual.
CLMOVE_API void clmove_engine_destroy(struct clmove_engine **engine);

/// What the engine decided. `info` is filled; nothing in it needs freeing.
/// CLMOVE_INVALID_ARGUMENT for NULL.
CLMOVE_API clmove_status clmove_engine_describe(
    const struct clmove_engine *engine, struct clmove_engine_info *info);

CLMOVE_END_DECLS

#endif
