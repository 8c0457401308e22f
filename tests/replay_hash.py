#!/usr/bin/env python3
"""What `clmove replay --verify` must print as its hash, without clmove.

usage: replay_hash.py TRACE LAYERS TAPS TOKEN_BYTES TEMPORAL_BYTES

Follows docs/semantics.md, section 11, and what tools/replay.cl says of stamps:
plays the counters of the trace, then hashes what the model would read next. No
block, no copy and no layout has a part in it. TOKEN_BYTES are those of a conv
token.
"""

import sys

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


def mix(value):
    value ^= value >> 30
    value = value * 0xBF58476D1CE4E5B9 & MASK
    value ^= value >> 27
    value = value * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def stamp(request, layer, temporal, token, size):
    """The bytes of a state, or of a conv token."""
    whose = request << 32 ^ layer << 1 ^ temporal
    key = mix(mix((whose + STEP) & MASK) ^ token)
    words = (mix((key + i * STEP) & MASK) for i in range((size + 7) // 8))
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]


def play(path):
    """By slot: the number of its last request, and its tokens."""
    slots = {}
    requests = 0
    with open(path, encoding="ascii") as trace:
        rows = [line.split() for line in trace if line[0].isdigit()]
    for row in rows:
        _, slot, computed, scheduled, draft, accepted = map(int, row)
        if slots.get(slot, (0, None))[1] != computed:
            slots[slot] = (requests, computed)
            requests += 1
        now = computed + scheduled - draft + accepted - 1
        slots[slot] = (slots[slot][0], now)
    return slots


def main():
    layers, taps, token_size, temporal_size = map(int, sys.argv[2:])
    value = 0xCBF29CE484222325
    for _, (request, tokens) in sorted(play(sys.argv[1]).items()):
        for layer in range(layers):
            first = max(tokens - (taps - 1), 0)
            states = [
                stamp(request, layer, 0, token, token_size)
                for token in range(first, tokens)
            ]
            states.append(stamp(request, layer, 1, tokens, temporal_size))
            for byte in b"".join(states):
                value = (value ^ byte) * 0x100000001B3 & MASK
    print(f"hash: {value:016x}")


if __name__ == "__main__":
    main()
