/* Recurrent state in paged device memory: where it lives, and its copies. */

#ifndef CLMOVE_SSM_H
#define CLMOVE_SSM_H

#include <clmove/engine.h>
#include <clmove/memory.h>
#include <clmove/move.h>
#include <clmove/status.h>

CLMOVE_BEGIN_DECLS

// A model with recurrent layers keeps, per layer, a conv state (the window of
// the last tokens that a short convolution needs) and / or a temporal state
// (one matrix). Each is a tensor of blocks; a request's blocks are listed in a
// row of a block table. With speculative decoding a step computes several
// tokens and accepts some of them; when the accepted ones cross a block
// boundary, the state as it was at that boundary is copied to the block that
// is to keep it. These calls decide that on the device, for all requests and
// all states at once, and copy.
//
// The rules (when to copy, from where) are those of vLLM's mamba-cache
// post-processing for speculative decoding, with every open corner closed; see
// docs/semantics.md.

/// How one block of a state tensor is laid out.
enum clmove_ssm_kind {
    /// conv, [width][dim]: a token's dim values are contiguous.
    CLMOVE_SSM_CONV_SD = 1,
    /// conv, [dim][width]: a channel's width values are contiguous, rows are
    /// row_stride bytes apart.
    CLMOVE_SSM_CONV_DS = 2,
    /// temporal: `size` opaque bytes.
    CLMOVE_SSM_TEMPORAL = 3
};

/// One state tensor of one layer. Block b starts b * block_stride bytes after
/// the memory's offset. Gaps between blocks and between rows are never touched.
struct clmove_ssm_state {
    uint32_t kind;         ///< enum clmove_ssm_kind
    uint32_t group;        ///< layers of one group share a block table
    uint32_t block_count;  ///< blocks in the tensor, at least 1
    uint32_t width;        ///< conv only: tokens in the window, at least 1
    uint32_t dim;          ///< conv only: channels, at least 1
    uint32_t element_size; ///< conv only: 1, 2, 4 or 8 bytes
    uint32_t taps;         ///< conv only: taps of the convolution; 0: not said
    struct clmove_memory memory; ///< read and written
    uint64_t block_stride; ///< bytes between blocks; 0: one block's own extent
    uint64_t row_stride;   ///< bytes, CONV_DS only; 0: width * element_size
    uint64_t size;         ///< bytes, temporal only: one block's state
};

/// What is known of the block table that a group of layers shares.
struct clmove_ssm_group {
    uint32_t has_null_block; ///< not 0: null_block names a block that stands
                             ///< for "no block" and is never touched
    int32_t null_block;
};

struct clmove_ssm_layout_params {
    const struct clmove_ssm_state *states; ///< [state_count]
    size_t state_count;                    ///< at least 1
    const struct clmove_ssm_group *groups; ///< [group_count], or NULL: no group
                                           ///< has a null block
    size_t group_count;                    ///< at least 1
    /// Drafted tokens of a step at most. Where a state says its taps, its
    /// window must hold taps - 1 + draft_tokens tokens. 0: none, or not said.
    uint32_t draft_tokens;
};

/// Where a model's states live. Immutable; any number of threads may use it.
struct clmove_ssm_layout;

/// Creates a layout: checks it, copies the descriptions and retains the
/// buffers. Nothing is enqueued and no state is touched.
///
/// States of one group must not overlap, first to last byte of each block.
/// States of different groups may share a pool: their tables then name
/// different blocks of it.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, an unknown kind, a zero count, an
/// element size that is not 1, 2, 4 or 8, row_stride below width *
/// element_size, block_stride below a block's extent, a window too narrow, a
/// group out of range, both or neither of buffer and pointer, a buffer of
/// another context), CLMOVE_OUT_OF_RANGE (the last block ends past the memory),
/// CLMOVE_OVERLAP (with both states), CLMOVE_ACCESS_DENIED (a buffer that
/// kernels cannot read and write), CLMOVE_UNSUPPORTED (a pointer kind, SVM on a
/// device without it), CL_OUT_OF_HOST_MEMORY, OpenCL's codes.
CLMOVE_API clmove_status clmove_ssm_layout_create(
    struct clmove_engine *engine, const struct clmove_ssm_layout_params *params,
    struct clmove_ssm_layout **layout);

/// Destroys a layout and sets *layout to NULL. NULL is fine, and so are steps
/// that still use it: they keep what they need.
CLMOVE_API void clmove_ssm_layout_destroy(struct clmove_ssm_layout **layout);

/// The block table of one group, int32 [max_rows][row_stride]: a request's
/// column j holds the id of the block with its tokens j * tokens_per_block and
/// on.
struct clmove_ssm_table {
    struct clmove_memory entries; ///< read
    uint32_t columns;             ///< entries of a row that mean something
    uint32_t row_stride;          ///< entries between rows; 0: columns
};

/// Why a request was left alone.
enum clmove_ssm_fault_kind {
    /// Nothing is wrong.
    CLMOVE_SSM_FAULT_NONE = 0,
    /// A counter is negative, or the sum leads to a column above INT32_MAX.
    /// state -1; column: enum clmove_ssm_counter; value: the counter.
    CLMOVE_SSM_FAULT_COUNTER = 1,
    /// A column that the copy needs is not in the table. column: it, clamped to
    /// int32; value: the table's number of columns.
    CLMOVE_SSM_FAULT_COLUMN = 2,
    /// The table's entry is no block of the state. value: the entry.
    CLMOVE_SSM_FAULT_BLOCK = 3,
    /// The table's entry is the null block. value: the entry.
    CLMOVE_SSM_FAULT_NULL_BLOCK = 4,
    /// The row's entry in slot_of is neither -1 nor a slot. state -1, column
    /// -1;
    /// value: the entry.
    CLMOVE_SSM_FAULT_SLOT = 5,
    /// Another row names the same slot; both are at fault. state -1, column -1;
    /// value: the slot.
    CLMOVE_SSM_FAULT_SLOT_TWICE = 6
};

/// Which array a CLMOVE_SSM_FAULT_COUNTER is about.
enum clmove_ssm_counter {
    CLMOVE_SSM_COUNTER_COMPUTED = 0,
    CLMOVE_SSM_COUNTER_SCHEDULED = 1,
    CLMOVE_SSM_COUNTER_DRAFT = 2,
    CLMOVE_SSM_COUNTER_ACCEPTED = 3,
    CLMOVE_SSM_COUNTER_NOW = 4, ///< now_computed
    CLMOVE_SSM_COUNTER_BIAS = 5 ///< copy_bias
};

/// One entry of the fault array, 16 bytes. The first fault that is found is
/// written: the slot; then counters in the order scheduled, draft, computed (or
/// now_computed), accepted; then states ascending, and for each its source
/// before its destination.
struct clmove_ssm_fault {
    int32_t kind;   ///< enum clmove_ssm_fault_kind
    int32_t state;  ///< index into the layout's states
    int32_t column; ///< of the group's table
    int32_t value;
};

/// How a step takes its numbers, a mask.
enum clmove_ssm_step_flag {
    /// Row i of the tables belongs to slot i, not to row i of the batch: tables
    /// have slot_count rows.
    CLMOVE_SSM_TABLES_BY_SLOT = 1,
    /// Pre-process leaves accepted as it is: another owner resets it.
    CLMOVE_SSM_KEEP_ACCEPTED = 2,
    /// Temporal states are neither checked nor moved: another owner does.
    CLMOVE_SSM_SKIP_TEMPORAL = 4
};

/// Where one step's numbers live. All arrays are int32 in device memory, at
/// offsets that are multiples of 4.
///
/// A request is named in one of two ways. Without slot_of, row i of the batch
/// is slot i. With it, row i's numbers that outlive a step live in slot
/// slot_of[i]; -1 skips the row. Arrays of [max_rows] go by row, those of
/// [slot_count] by slot.
///
/// Arrays that a call needs and that are absent are refused by that call:
///
///     pre         computed, scheduled or query_starts, accepted_in,
///                 accepted_out, column_in, column_out
///     post        accepted_in, accepted_out, column_in, and now_computed, or
///                 else computed, draft, scheduled or query_starts
///     pre_copy    copy_source, copy_destination, copy_bias
///     indices     computed, scheduled or query_starts
struct clmove_ssm_step_params {
    uint32_t flags;            ///< enum clmove_ssm_step_flag
    uint32_t tokens_per_block; ///< at least 1
    uint32_t max_rows;         ///< rows of a batch at most, at least 1
    uint32_t slot_count;       ///< at least max_rows; 0: max_rows
    const struct clmove_ssm_table *tables; ///< one per group of the layout
    struct clmove_memory slot_of;   ///< [max_rows], or absent: slot is row
    struct clmove_memory computed;  ///< [slot_count] tokens computed before
                                    ///< the step
    struct clmove_memory scheduled; ///< [max_rows] tokens of the step,
                                    ///< drafts included; 0: row not in it
    struct clmove_memory
        query_starts;           ///< [max_rows + 1] in place of scheduled:
                                ///< a row's is the difference to the next
    struct clmove_memory draft; ///< [max_rows] drafts among them
    struct clmove_memory now_computed; ///< [slot_count] post-process: tokens
                                       ///< computed now, in place of computed,
                                       ///< scheduled and draft
    struct clmove_memory accepted_in;  ///< [slot_count] tokens accepted, the
                                       ///< bonus token included
    struct clmove_memory accepted_out; ///< [slot_count] written, every entry;
                                       ///< may be accepted_in itself
    struct clmove_memory column_in;    ///< [slot_count] running column: the
                                       ///< table column of the block in use
    struct clmove_memory column_out;   ///< [slot_count] written by pre-process
                                       ///< and, where it is given, by
                                       ///< post-process, every entry; may be
                                       ///< column_in itself
    struct clmove_memory copy_source;  ///< [slot_count] column, -1: none
    struct clmove_memory copy_destination; ///< [slot_count] column
    struct clmove_memory copy_bias;        ///< [slot_count] tokens
    struct clmove_memory faults; ///< optional: struct clmove_ssm_fault
                                 ///< [max_rows]; a row's entry is written when
                                 ///< it is at fault, else left alone: clear it
                                 ///< yourself
};

/// A layout with the block tables and per-request arrays of one kind of step,
/// checked and bound once, with kernel arguments of its own. The arrays'
/// contents may change between calls; the arrays themselves may not.
///
/// One call at a time may be in flight on a step: order calls by their events,
/// or by an in-order queue.
struct clmove_ssm_step;

/// Creates a step. Retains the buffers. May build a program, when the layout's
/// states and the tables lie in more buffers than the programs that the engine
/// has built so far can take.
///
/// A launch costs host time for each buffer that it reaches: with states,
/// tables and arrays in up to 4 buffers a call is fastest. Arrays may share
/// one.
///
/// Results must not overlap any other array, any table or any state, except
/// where accepted_out is exactly accepted_in and column_out exactly column_in:
/// the call then copies those aside first, which costs one more command.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, tokens_per_block or max_rows 0, both
/// scheduled and query_starts, an unknown flag, slot_count below max_rows, a
/// group without a table, row_stride below columns, an offset or pointer that
/// is no multiple of 4), CLMOVE_OUT_OF_RANGE (an array too small for its rows),
/// CLMOVE_OVERLAP, CLMOVE_ACCESS_DENIED (a write-only input, a read-only
/// result), CLMOVE_UNSUPPORTED (tables and arrays in more than 63 buffers, 62
/// where a result is its own input), CLMOVE_BUILD_FAILED,
/// CL_OUT_OF_HOST_MEMORY, OpenCL's codes.
CLMOVE_API clmove_status clmove_ssm_step_create(
    struct clmove_ssm_layout *layout,
    const struct clmove_ssm_step_params *params, struct clmove_ssm_step **step);

/// Destroys a step and sets *step to NULL. NULL is fine. Its calls must have
/// finished if it uses SVM; otherwise they finish as usual.
CLMOVE_API void clmove_ssm_step_destroy(struct clmove_ssm_step **step);

/// Pre-process, before the model runs: for rows 0 .. rows - 1, when the step's
/// tokens lie in another block than the running one, copies the state there.
///
///     prev = column_in, cur = ceil((computed + scheduled) / tokens_per_block)
///     - 1
///     prev >= 0 and prev != cur: every state is copied (prev -> cur, bias =
///     max(accepted_in - 1, 0)), and accepted_out = 1
///     column_out = cur
///
/// (With CLMOVE_SSM_KEEP_ACCEPTED: accepted_out = accepted_in.) A row with
/// scheduled < 1 is left alone. The copy (source column, destination
/// column, bias): a conv window moves from block table[source] to
/// table[destination], token t receiving token t + bias; its last `bias` tokens
/// stay as they are. A temporal state moves from table[source + bias] to
/// table[destination]. Source and destination may be one physical block: the
/// result is memmove's.
///
/// A row whose numbers or blocks are wrong (enum clmove_ssm_fault_kind) is at
/// fault: none of its states is touched, its accepted and column stay, and its
/// entry in `faults` is written. Other rows are not affected. Only what the
/// copy would touch is checked.
///
/// Whoever admits a request sets its accepted to 1 and its column to
/// floor((computed - 1) / tokens_per_block), -1 for a request that starts at 0.
///
/// The caller promises that, within the call, a block that one request writes
/// is neither read nor written by another; shared (prefix) blocks may appear as
/// sources.
///
/// Returns when queued. `event` may be NULL; else the caller releases it. rows
/// 0 is fine: the results are written. One launch, or several where states lie
/// in more buffers than one can reach (64, or what the device allows), and one
/// small one before them when a result is its own input.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, rows above max_rows, an absent
/// array), CLMOVE_WRONG_QUEUE, CLMOVE_PARTLY_ENQUEUED, OpenCL's codes.
CLMOVE_API clmove_status clmove_enqueue_ssm_pre(
    struct clmove_ssm_step *step, uint32_t rows, cl_command_queue queue,
    cl_uint wait_count, const cl_event *wait_list, cl_event *event);

/// Post-process, after tokens were accepted: saves, for every request that
/// passed a block boundary, the state as it was at the last boundary.
///
///     R = computed + scheduled - draft, N = R + accepted_in - 1
///     A = floor(N / tokens_per_block) * tokens_per_block
///     scheduled - draft >= 1, accepted_in >= 1, A >= R and
///     A >= tokens_per_block: every state is copied (column_in ->
///     A / tokens_per_block - 1, bias = A - R)
///     if the two columns are one, accepted_out = 1; and if bias is 0 as well,
///     nothing moves
///
/// With now_computed, N is given and R = N - accepted_in + 1; accepted_in >= 1
/// then says that the row took part.
///
/// accepted_out is written for every slot: 1 in that case, else accepted_in.
/// column_out, where the step has one, becomes column_in, every entry. So two
/// steps can take turns, pre-process from arrays A to B and post-process from B
/// to A, and nothing needs to be copied aside. Copies, faults, promises,
/// returns: as for pre-process.
CLMOVE_API clmove_status clmove_enqueue_ssm_post(
    struct clmove_ssm_step *step, uint32_t rows, cl_command_queue queue,
    cl_uint wait_count, const cl_event *wait_list, cl_event *event);

/// Pre-copy, the copy half of pre-process with columns that the caller chose:
/// every state is copied (copy_source -> copy_destination, bias copy_bias). A
/// source of -1, or one that is the destination: nothing. accepted and column
/// are not looked at. Copies, faults, promises, returns: as for pre-process; a
/// negative bias is a fault.
CLMOVE_API clmove_status clmove_enqueue_ssm_pre_copy(
    struct clmove_ssm_step *step, uint32_t rows, cl_command_queue queue,
    cl_uint wait_count, const cl_event *wait_list, cl_event *event);

/// One request, as a host knows it.
struct clmove_ssm_request {
    int32_t computed;  ///< tokens computed before the step
    int32_t scheduled; ///< tokens of the step, drafts included
    int32_t draft;     ///< drafts among them
    int32_t accepted;  ///< tokens accepted, the bonus token included
    int32_t column;    ///< running column
};

/// What a call does with a request whose blocks are all there.
struct clmove_ssm_decision {
    uint32_t copies;     ///< not 0: states move
    int32_t source;      ///< column, of conv states; temporal: source + bias
    int32_t destination; ///< column
    int32_t bias;        ///< tokens
    int32_t boundary; ///< post-process: the block boundary that was passed, in
                      ///< tokens; column boundary / tokens_per_block - 1 holds
                      ///< the state there afterwards. 0: none was
    int32_t accepted; ///< afterwards
    int32_t column;   ///< afterwards
};

/// What pre-process does with a request: for hosts that keep books on their
/// blocks, or that decide for themselves and copy by block id. Needs no engine
/// and no device.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, tokens_per_block 0), or
/// CLMOVE_OUT_OF_RANGE where the device would find a counter at fault, or a
/// boundary exceeds INT32_MAX; what is decided is then that nothing happens.
CLMOVE_API clmove_status clmove_ssm_decide_pre(
    const struct clmove_ssm_request *request, uint32_t tokens_per_block,
    struct clmove_ssm_decision *decision);

/// What post-process does with a request; as clmove_ssm_decide_pre.
CLMOVE_API clmove_status clmove_ssm_decide_post(
    const struct clmove_ssm_request *request, uint32_t tokens_per_block,
    struct clmove_ssm_decision *decision);

/// State indices: the blocks that a step's tokens use, for all groups.
///
/// `out` is int32 [group][rows][slots_per_row]: entry (group, row, j) receives
/// table[column + j], column = max((computed + scheduled - 1) /
/// tokens_per_block, 0); -1 for a column past the table, a row that slot_of
/// skips, a slot that is none, or a negative counter. Nothing is checked
/// further and no fault is written. One launch.
///
/// If the buffer of `out` overlaps one of a table or array (a buffer and its
/// sub-buffer, say), name both by one handle: what OpenCL does with two that
/// overlap is undefined, and unlike a step's own memories this is not mended.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, rows above max_rows, slots_per_row 0,
/// an absent array, out at an offset that is no multiple of 4),
/// CLMOVE_OUT_OF_RANGE (out too small), CLMOVE_OVERLAP (out overlaps an array,
/// a table or a state), CLMOVE_ACCESS_DENIED, CLMOVE_WRONG_QUEUE, OpenCL's
/// codes.
CLMOVE_API clmove_status clmove_enqueue_ssm_indices(
    struct clmove_ssm_step *step, uint32_t rows, uint32_t slots_per_row,
    const struct clmove_memory *out, cl_command_queue queue, cl_uint wait_count,
    const cl_event *wait_list, cl_event *event);

/// One copy that the host decided: all states of a group, from blocks of one
/// layout to a block of another, or of the same one.
struct clmove_ssm_copy {
    uint32_t group;
    uint32_t bias;         ///< tokens, conv only
    int32_t conv_from;     ///< block; -1: conv states stay
    int32_t temporal_from; ///< block; -1: temporal states stay
    int32_t to;            ///< block
};

/// Copies states by block id: decisions of the host, forks (copy-on-write),
/// selection of an accepted step's state, save and restore.
///
/// State i of `from` goes to state i of `to`; the layouts have as many states,
/// in the same groups. Both are temporal and of one size, or both are conv with
/// the same dim and element_size; widths, strides and SD / DS order may differ.
/// Token t of the destination's window receives token t + bias of the source's,
/// for t below both widths; the other tokens stay as they are.
///
/// So a side buffer of per-step states is a layout (temporal: one block per
/// step; conv: a wide window of which `bias` chooses a part), and so is a
/// packed checkpoint (clmove_ssm_layout_pack). Copies go the other way alike.
///
/// Within the call a block that is written is neither written nor read by
/// another entry; an entry may shift a window within its own block. The list is
/// copied: it may be reused when the call returns. count 0 is fine. The null
/// block cannot be named.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL, layouts of two engines, or that do
/// not match), CLMOVE_OUT_OF_RANGE (a group or block that is not there),
/// CLMOVE_OVERLAP (two entries conflict: both indices and the block; two
/// layouts whose states share bytes), CLMOVE_WRONG_QUEUE,
/// CLMOVE_PARTLY_ENQUEUED, CL_OUT_OF_HOST_MEMORY, OpenCL's codes.
CLMOVE_API clmove_status clmove_enqueue_ssm_copy(
    struct clmove_ssm_layout *from, struct clmove_ssm_layout *to,
    const struct clmove_ssm_copy *copies, size_t count, cl_command_queue queue,
    cl_uint wait_count, const cl_event *wait_list, cl_event *event);

/// Clears all states of `group` in the listed blocks: int32 blocks[count], on
/// the host, copied. Gaps stay as they are. count 0 is fine; a block may be
/// named twice.
///
/// Returns CLMOVE_INVALID_ARGUMENT (NULL), CLMOVE_OUT_OF_RANGE (a group or
/// block that is not there), CLMOVE_WRONG_QUEUE, CLMOVE_PARTLY_ENQUEUED,
/// CL_OUT_OF_HOST_MEMORY, OpenCL's codes.
CLMOVE_API clmove_status clmove_enqueue_ssm_zero(
    struct clmove_ssm_layout *layout, uint32_t group, const int32_t *blocks,
    size_t count, cl_command_queue queue, cl_uint wait_count,
    const cl_event *wait_list, cl_event *event);

/// The bytes that clmove_ssm_layout_pack needs for `block_count` blocks.
/// CLMOVE_OUT_OF_RANGE when they exceed 64 bits.
CLMOVE_API clmove_status
clmove_ssm_layout_packed_size(const struct clmove_ssm_layout *layout,
                              uint32_t block_count, uint64_t *bytes);

/// Creates a layout of the same states, packed: each block holds all states one
/// after another without gaps between rows, each at a multiple of 16 bytes;
/// blocks follow each other. A block is thus one range of packed_size(1) bytes
/// that can be stored elsewhere. There is no null block.
///
/// Returns as clmove_ssm_layout_create.
CLMOVE_API clmove_status clmove_ssm_layout_pack(
    const struct clmove_ssm_layout *layout, uint32_t block_count,
    const struct clmove_memory *memory, struct clmove_ssm_layout **packed);

/// Creates a batch that moves whole blocks of a group at once: block from[i] to
/// block to[i] for all states, as if every source were read before any
/// destination is written. Permutes slots, swaps, rotates. Gaps stay as they
/// are. `scratch_limit` as in clmove_batch_params; slices need states of one
/// size, so a group of several sizes is refused where its blocks exceed it.
///
/// Returns CLMOVE_OUT_OF_RANGE (a group or block that is not there), and as
/// clmove_batch_create; an index in its sentences is i * states of the group +
/// state.
CLMOVE_API clmove_status
clmove_ssm_batch_create(struct clmove_ssm_layout *layout, uint32_t group,
                        const int32_t *from, const int32_t *to, size_t count,
                        uint64_t scratch_limit, struct clmove_batch **batch);

CLMOVE_END_DECLS

#endif
