/* What every kernel shares: limits, banks, how bytes are cut and loaded. */

/* Macros: CLMOVE_BANKS, CLMOVE_CPU, CLMOVE_HELD, CLMOVE_GROUP. The library sets
 * them; the values here let a file compile alone. */
#ifndef CLMOVE_COMMON
#define CLMOVE_COMMON

/* Distinct buffers that a launch can reach: 2, 4, 16 or 64. */
#ifndef CLMOVE_BANKS
#define CLMOVE_BANKS 2
#endif

/* 1: loads of 16 bytes are fast at any address, and a work-group is a loop on
 * one core. */
#ifndef CLMOVE_CPU
#define CLMOVE_CPU 0
#endif

/* Values that a work-item holds in registers between its loads and stores. */
#ifndef CLMOVE_HELD
#define CLMOVE_HELD 8
#endif

/* Work-items of the groups that move most: a number that the compiler has to
 * know, or 0 for any. */
#ifndef CLMOVE_GROUP
#define CLMOVE_GROUP 0
#endif
#if CLMOVE_GROUP > 0
#define MOVER __attribute__((reqd_work_group_size(CLMOVE_GROUP, 1, 1)))
#define MOVER_ITEMS ((uint)CLMOVE_GROUP)
#else
#define MOVER
#define MOVER_ITEMS ((uint)get_local_size(0))
#endif

/* In front of a loop whose speed matters little: copies of its body would only
 * make the program slower to compile, and to fetch. */
#define ROLLED _Pragma("nounroll")

/* The banks as kernel parameters, bank_00 to bank_3f, and their way into an
 * array. The array lives in local memory: a dynamic index into registers would
 * become scratch memory on some devices. */
#define BANK_PARAMETER(hex) __global uchar *bank_##hex,
#define BANK_STORE(hex) banks[0x##hex] = bank_##hex;
#define BANK_ROW(each, row)                                                    \
    each(row##0) each(row##1) each(row##2) each(row##3) each(row##4)           \
        each(row##5) each(row##6) each(row##7) each(row##8) each(row##9)       \
            each(row##a) each(row##b) each(row##c) each(row##d) each(row##e)   \
                each(row##f)
#if CLMOVE_BANKS == 2
#define BANK_EACH(each) each(00) each(01)
#elif CLMOVE_BANKS == 4
#define BANK_EACH(each) each(00) each(01) each(02) each(03)
#elif CLMOVE_BANKS == 16
#define BANK_EACH(each) BANK_ROW(each, 0)
#else
#define BANK_EACH(each)                                                        \
    BANK_ROW(each, 0) BANK_ROW(each, 1) BANK_ROW(each, 2) BANK_ROW(each, 3)
#endif

/* An array of the banks' addresses: BANK_ARRAY banks[CLMOVE_BANKS]. */
#define BANK_ARRAY __local bank_pointer
typedef __global uchar *bank_pointer;

/* How a range of bytes is cut: `head` single bytes, `count` vectors of 16 whose
 * destinations are aligned, single bytes up to the end. A source that is out of
 * phase is loaded as aligned vectors and shifted: `head` and `count` keep those
 * within the source. */
struct cut {
    ulong head, count;
    uint phase; /* source minus destination, modulo 16 */
};

static void cut_range(__global const uchar *dst, __global const uchar *src,
                      ulong size, struct cut *cut)
{
    cut->phase = (uint)((ulong)src - (ulong)dst) & 15u;
    cut->head = (0ul - (ulong)dst) & 15u;
    ulong spare = 0; /* bytes that the last vector's load reaches further */
    if (!CLMOVE_CPU && cut->phase != 0) {
        if (cut->head < cut->phase)
            cut->head += 16;
        spare = 16 - cut->phase;
    }
    if (cut->head + spare + 16 > size) {
        cut->head = size;
        cut->count = 0;
    } else {
        cut->count = (size - cut->head - spare) / 16;
    }
}

/* What is loaded for 16 bytes at any address: the two aligned vectors that hold
 * them, or one if the address is aligned itself. They are shifted when they are
 * stored, so that loads stay in flight until then. */
typedef ulong4 pair;

#ifdef __AMDGCN__
/* Not the other half: the copy would wait for its load. */
#define UNUSED_HALF(low) ((ulong2)(0))
#else
#define UNUSED_HALF(low) (low)
#endif

/* For vector i of src, whose address is `phase` modulo 16. */
static pair load_pair(__global const uchar *src, ulong i, uint phase)
{
#if CLMOVE_CPU
    (void)phase;
    const ulong2 low = as_ulong2(vload16(i, src));
    return (pair)(low, low);
#else
    __global const ulong2 *from = (__global const ulong2 *)(src - phase) + i;
    const ulong2 low = from[0];
    ulong2 high = UNUSED_HALF(low);
    if (phase != 0)
        high = from[1];
    return (pair)(low, high);
#endif
}

static uint4 pair_value(pair held, uint phase)
{
#if CLMOVE_CPU
    (void)phase;
    return as_uint4(held.lo);
#else
    const ulong2 low = phase < 8 ? held.xy : held.yz;
    const ulong2 high = phase < 8 ? held.yz : held.zw;
    /* Never a shift by 64: the device would take it modulo 64. */
    const ulong bits = (phase & 7u) * 8;
    return as_uint4((low >> bits) | ((high << 1) << (63 - bits)));
#endif
}

/* Bytes from src to dst, disjoint, one at a time. */
static void copy_bytes(__global uchar *dst, __global const uchar *src,
                       ulong size, uint item, uint items)
{
    ROLLED
    for (ulong i = item; i < size; i += items)
        dst[i] = src[i];
}

/* Nothing, for calls that have nothing to do: their event still comes. */
__kernel void clmove_nothing(void)
{
}

#endif
