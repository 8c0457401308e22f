/* A Mamba-2 language model, a step for all requests of a batch at once. */

/*
 * Kernels, in the order of a step: mamba_embed; for each layer mamba_in,
 * mamba_conv, mamba_scan, mamba_out; mamba_head, mamba_accept. The equations
 * are those of model/README.md.
 *
 * Why they cannot race: a work-group, or in mamba_conv, mamba_embed and
 * mamba_accept a single item, owns what it writes, and nobody else in the
 * launch reads it. Of the states, an item of mamba_conv owns one channel of one
 * request's windows, an item of mamba_scan one row of one head's matrices; each
 * loads the old state before it stores the new ones, which may lie in the same
 * block.
 *
 * Why a token's numbers do not depend on how many tokens a step has: every sum
 * has one order, whatever the group size and the step; contraction is off, and
 * fma is called where it is meant.
 *
 * Macros, all from the model's shapes: D model width, H heads, P head size, N
 * state size, K taps, V tokens of the vocabulary; LANES, the vector width that
 * suits the device. IN_STRIDE and V_STRIDE are the rows of the input
 * projection and of the head, rounded up to LANES. Matrices are stored
 * transposed: [column][row].
 */

#ifndef MAMBA_SECTIONS_H
#include "sections.h"
#endif

#ifndef LANES
#define LANES 1
#define D 128
#define H 4
#define P 64
#define N 32
#define K 4
#define V 73
#define IN_STRIDE 580
#define V_STRIDE 73
#endif

#pragma OPENCL FP_CONTRACT OFF

#define INNER (H * P)
#define CHANNELS (INNER + 2 * N)
#define PROJECTED_CONV INNER /* where a token's projection has what */
#define PROJECTED_TIME (INNER + CHANNELS)
#define EPSILON 1e-5f

#if LANES == 8
typedef float8 lanes;
#define LOAD_LANES(index, array) vload8((size_t)(index), array)
#define STORE_LANES(value, index, array) vstore8(value, (size_t)(index), array)
#else
typedef float lanes;
#define LOAD_LANES(index, array) (array)[index]
#define STORE_LANES(value, index, array) (array)[index] = (value)
#endif

#define SECTION(name) (batch + batch[name])

/* What a row of the batch says. */
struct row {
    int slot;
    int first;    /* token in the batch */
    int count;    /* tokens of the step */
    int computed; /* tokens before it */
    int draft;
    int skip; /* tokens of the running block's windows to step over */
    __global const int *blocks; /* from the running column on */
};

static int read_row(__global const int *batch, __global const int *accepted,
                    __global const int *column, int index, struct row *row)
{
    __global const int *starts = SECTION(SECTION_STARTS);
    row->slot = SECTION(SECTION_SLOTS)[index];
    row->first = starts[index];
    row->count = starts[index + 1] - row->first;
    row->computed = SECTION(SECTION_COMPUTED)[row->slot];
    row->draft = SECTION(SECTION_DRAFTS)[index];
    row->skip = max(accepted[row->slot] - 1, 0);
    row->blocks = SECTION(SECTION_TABLE) +
                  (batch[HEAD_TABLE_BY_SLOT] != 0 ? row->slot : index) *
                      batch[HEAD_COLUMNS] +
                  column[row->slot];
    return row->count > 0;
}

static float silu(float x)
{
    return x / (1.0f + exp(-x));
}

static float softplus(float x)
{
    return x > 20.0f ? x : log(1.0f + exp(x));
}

/* The factor that makes the mean square 1. Every item adds up all of it, in one
 * order. */
static float rms_factor(__local const float *values, int count)
{
    float sum = 0.0f;
    for (int i = 0; i < count; i++)
        sum = fma(values[i], values[i], sum);
    return 1.0f / sqrt(sum / (float)count + EPSILON);
}

/* Row block `index` of a transposed matrix times a vector. */
static lanes dot_rows(__global const float *matrix, int row_stride,
                      __local const float *vector, int count, int index)
{
    lanes sum = (lanes)(0.0f);
    for (int i = 0; i < count; i++)
        sum = fma((lanes)(vector[i]),
                  LOAD_LANES(index, matrix + (long)i * row_stride), sum);
    return sum;
}

/* x = embedding[token]; an item for each element of each token. */
__kernel void mamba_embed(__global const float *weights, int embedding,
                          __global const int *batch, __global float *x,
                          int token_count)
{
    const int i = (int)get_global_id(0);
    if (i < token_count * D)
        x[i] = weights[embedding + SECTION(SECTION_TOKENS)[i / D] * D + i -
                       i / D * D];
}

/* z, w, t = in_proj @ (rms(x) * norm); groups (token, part of the rows). */
__kernel void mamba_in(__global const float *weights, int norm, int matrix,
                       __global const float *x, __global float *projected)
{
    __local float values[D];
    __local float scaled[D];
    const long token = (long)get_group_id(0);
    const int item = (int)get_local_id(0);
    const int items = (int)get_local_size(0);
    for (int i = item; i < D; i += items)
        values[i] = x[token * D + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float factor = rms_factor(values, D);
    for (int i = item; i < D; i += items)
        scaled[i] = values[i] * factor * weights[norm + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int step = items * (int)get_num_groups(1);
    for (int i = (int)get_group_id(1) * items + item; i < IN_STRIDE / LANES;
         i += step)
        STORE_LANES(dot_rows(weights + matrix, IN_STRIDE, scaled, D, i), i,
                    projected + token * IN_STRIDE);
}

/*
 * c = silu(conv(w)), and the window that the next step finds: an item for each
 * (channel, row). The window keeps the last K - 1 + draft tokens; token t of
 * channel j is at j * channel_stride + t * token_stride of a block's window.
 */
__kernel void mamba_conv(__global const float *weights, int matrix, int bias,
                         __global const int *batch, __global const int *numbers,
                         int accepted, int column,
                         __global const float *projected, __global float *pool,
                         long window, long block_stride, int channel_stride,
                         int token_stride, __global float *convolved)
{
    const int channel = (int)get_global_id(0);
    struct row row;
    float old[K - 1];
    float last[K];
    if (channel >= CHANNELS ||
        !read_row(batch, numbers + accepted, numbers + column,
                  (int)get_global_id(1), &row))
        return;
    __global float *state = pool + window + row.blocks[0] * block_stride +
                            (long)channel * channel_stride;
    __global const float *own =
        projected + (long)row.first * IN_STRIDE + PROJECTED_CONV + channel;
    for (int t = 0; t < K - 1; t++) {
        old[t] =
            row.computed == 0 ? 0.0f : state[(row.skip + t) * token_stride];
        last[t] = old[t];
    }
    for (int token = 0; token < row.count; token++) {
        last[K - 1] = own[(long)token * IN_STRIDE];
        float sum = weights[bias + channel];
        for (int k = 0; k < K; k++)
            sum = fma(weights[matrix + channel * K + k], last[k], sum);
        convolved[(long)(row.first + token) * CHANNELS + channel] = silu(sum);
        for (int k = 0; k + 1 < K; k++)
            last[k] = last[k + 1];
    }
    const int first = row.count - row.draft - (K - 1);
    for (int t = 0; t < K - 1 + row.draft; t++) {
        const int token = first + t; /* below 0: from before the step */
        state[t * token_stride] =
            token < 0 ? old[token + K - 1] : own[(long)token * IN_STRIDE];
    }
}

/*
 * S and y of one head: groups (row, head), an item for each of the P rows of S.
 * The states after each of the last 1 + draft tokens go to the blocks of the
 * running column and on.
 */
__kernel void mamba_scan(__global const float *weights, int time_bias,
                         int decay_log, int direct, __global const int *batch,
                         __global const int *numbers, int accepted, int column,
                         __global const float *projected,
                         __global const float *convolved, __global float *pool,
                         long matrix, long block_stride, __global float *y)
{
    const int head = (int)get_group_id(1);
    struct row row;
    if (!read_row(batch, numbers + accepted, numbers + column,
                  (int)get_group_id(0), &row))
        return;
    const float rate = -exp(weights[decay_log + head]);
    for (int p = (int)get_local_id(0); p < P; p += (int)get_local_size(0)) {
        float state[N];
        __global float *place = pool + matrix + (long)(head * P + p) * N;
        for (int n = 0; n < N; n++)
            state[n] = row.computed == 0
                           ? 0.0f
                           : place[row.blocks[row.skip] * block_stride + n];
        for (int token = 0; token < row.count; token++) {
            const long index = (long)(row.first + token);
            __global const float *c = convolved + index * CHANNELS;
            const float dt =
                softplus(projected[index * IN_STRIDE + PROJECTED_TIME + head] +
                         weights[time_bias + head]);
            const float decay = exp(rate * dt);
            const float v = c[head * P + p];
            const float input = dt * v;
            float sum = 0.0f;
            for (int n = 0; n < N; n++) {
                state[n] = fma(input, c[INNER + n], decay * state[n]);
                sum = fma(state[n], c[INNER + N + n], sum);
            }
            y[index * INNER + head * P + p] =
                fma(weights[direct + head], v, sum);
            const int kept = token - (row.count - 1 - row.draft);
            for (int n = 0; kept >= 0 && n < N; n++)
                place[row.blocks[kept] * block_stride + n] = state[n];
        }
    }
}

/* x += out_proj @ (rms(y * silu(z)) * gate_norm); a group for each token. */
__kernel void mamba_out(__global const float *weights, int norm, int matrix,
                        __global const float *projected,
                        __global const float *y, __global float *x)
{
    __local float values[INNER];
    __local float scaled[INNER];
    const long token = (long)get_group_id(0);
    const int item = (int)get_local_id(0);
    const int items = (int)get_local_size(0);
    for (int i = item; i < INNER; i += items)
        values[i] =
            y[token * INNER + i] * silu(projected[token * IN_STRIDE + i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const float factor = rms_factor(values, INNER);
    for (int i = item; i < INNER; i += items)
        scaled[i] = values[i] * factor * weights[norm + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < D / LANES; i += items) {
        __global float *row = x + token * D;
        STORE_LANES(LOAD_LANES(i, row) +
                        dot_rows(weights + matrix, D, scaled, INNER, i),
                    i, row);
    }
}

/* The likeliest next token after each wanted one: a group for each. */
__kernel void mamba_head(__global const float *weights, int norm, int matrix,
                         __global const int *batch, __global const float *x,
                         __global int *next)
{
    __local float values[D];
    __local float scaled[D];
    __local float logits[V_STRIDE];
    const int token = SECTION(SECTION_WANTED)[get_group_id(0)];
    const int item = (int)get_local_id(0);
    const int items = (int)get_local_size(0);
    for (int i = item; i < D; i += items)
        values[i] = x[(long)token * D + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float factor = rms_factor(values, D);
    for (int i = item; i < D; i += items)
        scaled[i] = values[i] * factor * weights[norm + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < V_STRIDE / LANES; i += items)
        STORE_LANES(dot_rows(weights + matrix, V_STRIDE, scaled, D, i), i,
                    logits);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        int best = 0;
        for (int i = 1; i < V; i++)
            best = logits[i] > logits[best] ? i : best;
        next[token] = best;
    }
}

/*
 * The longest prefix of the proposed tokens that agrees with the model: an item
 * for each row. counts[row] is one more than that, for the token that the model
 * adds. accepted, by slot, says the same to the state copies, as far as states
 * are kept one by one.
 */
__kernel void mamba_accept(__global const int *batch, int row_count,
                           __global const int *next, __global int *counts,
                           __global int *numbers, int accepted)
{
    const int index = (int)get_global_id(0);
    if (index >= row_count)
        return;
    __global const int *starts = SECTION(SECTION_STARTS);
    __global const int *tokens = SECTION(SECTION_TOKENS);
    const int proposed = SECTION(SECTION_PROPOSED)[index];
    const int last = starts[index + 1] - 1 - proposed;
    int count = 1;
    if (starts[index + 1] == starts[index])
        return;
    while (count <= proposed && tokens[last + count] == next[last + count - 1])
        count++;
    counts[index] = count;
    numbers[accepted + SECTION(SECTION_SLOTS)[index]] =
        SECTION(SECTION_DRAFTS)[index] > 0 ? count : 1;
}
