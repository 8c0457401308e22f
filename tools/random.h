/* A small generator of repeatable random numbers. */

#ifndef TOOLS_RANDOM_H
#define TOOLS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* splitmix64; any state is a good one. */
struct random {
    uint64_t state;
};

static inline uint64_t random_mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static inline uint64_t random_next(struct random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return random_mix(random->state);
}

/* 0 .. count - 1; the bias is of no matter here. */
static inline uint32_t random_below(struct random *random, uint32_t count)
{
    return (uint32_t)((random_next(random) >> 32) * count >> 32);
}

/* first .. last */
static inline int32_t random_between(struct random *random, int32_t first,
                                     int32_t last)
{
    return first + (int32_t)random_below(random, (uint32_t)(last - first) + 1);
}

static inline bool random_chance(struct random *random, uint32_t percent)
{
    return random_below(random, 100) < percent;
}

#endif
