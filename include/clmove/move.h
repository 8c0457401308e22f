/* memmove for device memory: single moves, batches of moves. */

#ifndef CLMOVE_MOVE_H
#define CLMOVE_MOVE_H

#include <clmove/engine.h>
#include <clmove/memory.h>
#include <clmove/status.h>

CLMOVE_BEGIN_DECLS

/// How a move is carried out. Every variant gives the same bytes; AUTO takes
/// what is fastest. Another one is refused where it cannot do the move.
enum clmove_variant {
    CLMOVE_VARIANT_AUTO = 0,
    /// clEnqueueCopyBuffer or clEnqueueSVMMemcpy: disjoint moves between two
    /// buffers, or between two pointers. Not for batches.
    CLMOVE_VARIANT_DRIVER = 1,
    /// One launch of a kernel that fills the device: disjoint moves.
    CLMOVE_VARIANT_DISJOINT = 2,
    /// One work-group moves all of it, in memmove's order: any move, slow when
    /// large.
    CLMOVE_VARIANT_GROUP = 3,
    /// Two launches: the first saves the edges of spans to scratch, the second
    /// gives every work-group a span: overlapping moves. Where the distance is
    /// more than an eighth of the size, one work-group moves all of it.
    CLMOVE_VARIANT_SPLIT = 4,
    /// One launch in which every work-group moves one part of all pieces of the
    /// distance's size; two, with edges as for SPLIT, where that leaves the
    /// device idle: overlapping moves.
    CLMOVE_VARIANT_SEGMENTS = 5
};

/// The name of a variant ("split"), or NULL for any other number. The string is
/// static.
CLMOVE_API const char *clmove_variant_name(uint32_t variant);

/// Options of a move. All zero, or NULL in their place: the defaults.
struct clmove_move_options {
    uint32_t variant; ///< enum clmove_variant; 0: the environment's
                      ///< CLMOVE_VARIANT (a name), if set, where it can do the
                      ///< move; else the fastest
    /// Device memory that the call may overwrite until it has finished, at
    /// least clmove_move_scratch_size bytes. Absent: the engine's own, kept per
    /// queue and reused; it grows to what the largest move needed and is freed
    /// with the engine.
    struct clmove_memory scratch;
};

/// The bytes of scratch that clmove_enqueue_move needs for the same arguments;
/// 0 for most. At most a quarter of `size` and a few KiB, unless
/// clmove_engine_params.tile_size asks for tiny pieces.
///
/// Returns what clmove_enqueue_move would return for bad arguments.
CLMOVE_API clmove_status clmove_move_scratch_size(
    struct clmove_engine *engine, const struct clmove_memory *src,
    const struct clmove_memory *dst, size_t size,
    const struct clmove_move_options *options, size_t *bytes);

/// Enqueues a move of `size` bytes from the start of `src` to the start of
/// `dst`: afterwards dst holds what src held before, however the two overlap.
/// No byte outside dst's first `size` bytes changes.
///
/// src and dst may be one buffer, a buffer and its sub-buffer, two buffers, or
/// SVM. For memories named by pointer, a memory size of 0 means `size`.
///
/// size 0 is a success: nothing moves, the wait list is honoured and the event
/// still comes. A move onto itself is the same.
///
/// A read-only dst or a write-only src (CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY: as
/// seen by kernels) is moved by the driver where the move is disjoint, and
/// refused where it overlaps.
///
/// `options` may be NULL. Returns when queued; `event` may be NULL, else the
/// caller releases it. One or two commands; a wait list that fails stops both.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, both or neither of buffer and pointer
/// set, an unknown variant, one that cannot do the move, a buffer of another
/// context), CLMOVE_OUT_OF_RANGE (size past a memory's end, scratch too small),
/// CLMOVE_OVERLAP (scratch overlaps src or dst), CLMOVE_ACCESS_DENIED,
/// CLMOVE_UNSUPPORTED (a pointer kind, SVM on a device without it),
/// CLMOVE_WRONG_QUEUE, CLMOVE_PARTLY_ENQUEUED, OpenCL's codes.
CLMOVE_API clmove_status clmove_enqueue_move(
    struct clmove_engine *engine, const struct clmove_memory *src,
    const struct clmove_memory *dst, size_t size,
    const struct clmove_move_options *options, cl_command_queue queue,
    cl_uint wait_count, const cl_event *wait_list, cl_event *event);

/// One entry of a batch: `rows` rows of `size` bytes. Offsets count from the
/// start of the memories.
struct clmove_region {
    uint32_t src_memory; ///< index into the batch's memories
    uint32_t dst_memory;
    uint64_t src_offset; ///< bytes
    uint64_t dst_offset;
    uint64_t size;       ///< bytes of a row; 0: an entry that does nothing
    uint64_t rows;       ///< 0: 1
    uint64_t src_stride; ///< bytes between rows; not used for one row
    uint64_t dst_stride;
};

/// What a batch consists of. A zero field means the default.
struct clmove_batch_params {
    const struct clmove_memory *memories; ///< [memory_count]
    size_t memory_count;
    const struct clmove_region *regions; ///< [region_count], copied
    size_t region_count;                 ///< 0 is fine: nothing moves
    uint32_t variant; ///< how moves that overlap themselves are done: AUTO (the
                      ///< environment's CLMOVE_VARIANT, if it is one of the
                      ///< next three), GROUP, SPLIT or SEGMENTS; DISJOINT
                      ///< refuses a batch that has any
    uint64_t scratch_limit;       ///< bytes; 0: no limit
    struct clmove_memory scratch; ///< absent: the batch allocates its own
};

/// A list of moves, checked, planned and bound. Enqueued as often as wanted:
/// **as if every source were read before any destination is written**.
///
/// A->B with B->C gives C the old B, B the old A; A<->B is a swap; A->B with
/// A->C is allowed. The order of the list never matters. Rows of one rectangle
/// count as entries of their own in this.
struct clmove_batch;

/// Creates a batch. May take milliseconds for 10^5 entries; nothing is moved.
/// Retains the buffers; SVM must stay allocated.
///
/// `engine` NULL makes a batch that can be described, not enqueued; its
/// memories are then given by their size alone and taken as separate, and
/// `scratch` is not looked at.
///
/// An entry whose source another entry writes (it is endangered) is saved to
/// scratch by the first launch, and written from there by the second. Where
/// that would exceed scratch_limit and the endangered entries are whole slots
/// (equal sizes, sources and destinations equal or disjoint), they are moved
/// slice by slice, in as many pairs of launches as that takes, up to 65536; all
/// others follow. Else the batch is refused and the log says what it needs.
/// Entries of the same two memories that touch in source and destination alike
/// are one move. Moves between more buffers than a launch can reach (64, or
/// what the device allows) take more launches.
///
/// `log` NULL: the engine's.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, an index or variant out of range, a
/// variant that cannot do it), CLMOVE_OUT_OF_RANGE (a region past its memory,
/// sums above 64 bits, scratch or its limit smaller than needed),
/// CLMOVE_OVERLAP (two regions write one byte: the log has both indices and the
/// byte; or scratch overlaps a memory), CLMOVE_ACCESS_DENIED,
/// CLMOVE_UNSUPPORTED (more than 2147483647 rows or 268435456 jobs),
/// CL_OUT_OF_HOST_MEMORY, OpenCL's codes.
CLMOVE_API clmove_status clmove_batch_create(
    struct clmove_engine *engine, const struct clmove_log *log,
    const struct clmove_batch_params *params, struct clmove_batch **batch);

/// Destroys a batch and sets *batch to NULL. NULL is fine. What was enqueued
/// finishes as usual, except that SVM and scratch given by the caller must
/// outlive it.
CLMOVE_API void clmove_batch_destroy(struct clmove_batch **batch);

/// Enqueues a batch. One call at a time may be in flight on a batch that needs
/// scratch: order calls by their events, or by an in-order queue. Returns when
/// queued, as clmove_enqueue_move.
CLMOVE_API clmove_status clmove_enqueue_batch(struct clmove_batch *batch,
                                              cl_command_queue queue,
                                              cl_uint wait_count,
                                              const cl_event *wait_list,
                                              cl_event *event);

/// What a batch comes to.
struct clmove_batch_info {
    uint64_t region_count;
    uint64_t entry_count;       ///< rows of all regions, before merging
    uint64_t merged_count;      ///< moves left after no-ops and neighbours
    uint64_t dropped_count;     ///< entries that do nothing
    uint64_t endangered_count;  ///< moves that go through scratch
    uint64_t overlapping_count; ///< moves that overlap themselves, not counting
                                ///< endangered ones
    uint64_t moved_size;        ///< bytes written to destinations
    uint64_t scratch_size;      ///< bytes
    uint64_t slice_count; ///< 1, or the pairs of launches of a sliced batch
    uint64_t launch_count;
};

/// What becomes of an entry.
enum clmove_entry_class {
    CLMOVE_ENTRY_DROPPED = 0,   ///< size 0, or onto itself
    CLMOVE_ENTRY_DISJOINT = 1,  ///< source and destination share no byte
    CLMOVE_ENTRY_LEFT = 2,      ///< overlaps itself, destination below source
    CLMOVE_ENTRY_RIGHT = 3,     ///< overlaps itself, destination above source
    CLMOVE_ENTRY_ENDANGERED = 4 ///< another entry writes its source
};

struct clmove_entry_info {
    uint32_t entry_class; ///< enum clmove_entry_class, of the whole move that
                          ///< it is part of
    uint32_t variant;     ///< enum clmove_variant of that move
    uint64_t move;        ///< number of that move, neighbours merged, in the
                          ///< order of destinations; UINT64_MAX when dropped
    uint64_t move_size;   ///< bytes of the whole move
};

/// Describes a batch. Fills *info.
CLMOVE_API clmove_status clmove_batch_describe(const struct clmove_batch *batch,
                                               struct clmove_batch_info *info);

/// Describes row `row` of region `region`. CLMOVE_OUT_OF_RANGE past the end.
CLMOVE_API clmove_status
clmove_batch_describe_entry(const struct clmove_batch *batch, uint64_t region,
                            uint64_t row, struct clmove_entry_info *info);

/// Arrays of a batch that lie in device memory.
struct clmove_device_batch {
    struct clmove_memory src_base;    ///< sources lie in here
    struct clmove_memory dst_base;    ///< may be src_base, or overlap it
    struct clmove_memory src_offsets; ///< int64 [count], bytes from src_base
    struct clmove_memory dst_offsets; ///< int64 [count]
    struct clmove_memory
        sizes; ///< int64 [count], or int32 with sizes_are_int32
    struct clmove_memory faults; ///< optional: int32 [count], set to 1 where an
                                 ///< entry was skipped as out of range, else
                                 ///< left alone
    uint32_t sizes_are_int32;
    uint64_t count; ///< 0 is fine
};

/// Enqueues a batch whose entries are decided on the device. Each entry is a
/// move of its own: overlap inside an entry is safe, in both directions.
/// Entries must not touch each other (no entry reads or writes what another
/// writes): the caller promises that. A size of 0 or an offset of -1: nothing.
/// An entry outside its base is skipped, and its fault is set.
///
/// One launch. Alignment of the arrays: that of their entries. Returns as
/// clmove_enqueue_move.
CLMOVE_API clmove_status clmove_enqueue_batch_device(
    struct clmove_engine *engine, const struct clmove_device_batch *params,
    cl_command_queue queue, cl_uint wait_count, const cl_event *wait_list,
    cl_event *event);

CLMOVE_END_DECLS

#endif
