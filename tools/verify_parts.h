/* What the files of the verification share. */

#ifndef TOOLS_VERIFY_PARTS_H
#define TOOLS_VERIFY_PARTS_H

#include "verify.h"
#include "verify_bytes.h"

/* Arrays that the checks write themselves, int32 [slots] each. */
enum verify_extra {
    EXTRA_ACTIVE,
    EXTRA_TOKENS,
    EXTRA_COLUMN,
    EXTRA_COUNT,
    EXTRAS
};

struct verify {
    struct replay *replay;
    struct verify_bytes bytes;
    cl_mem extra[EXTRAS];
    int32_t *extra_values[EXTRAS];
    cl_mem bad; /* uint32 [layers][slots][2] */
    uint32_t *bad_values;
    int32_t *read_back; /* [room] */
    struct clmove_ssm_fault *faults;
    unsigned char *kept; /* [slots][layers] pages, with checkpoints */
    size_t kept_room;    /* bytes */
    unsigned char *page; /* one page */
    size_t page_room;    /* bytes */
    uint64_t checks;
};

/* "step 12, post-process"; returns the text. */
const char *verify_place(const struct verify *verify, const char *what,
                         char *text, size_t size);

/* Sends extra_values to the device. */
bool verify_write_extra(struct verify *verify);

/* Plays the model with extra_values: states are stamped, and from then on
 * expected to be as they are. */
bool verify_stamp(struct verify *verify);

/* Runs the check kernel, on the extra arrays or on those of the current step;
 * `active` and `tokens` are the host's copies of the arrays that it reads. */
bool verify_check_meaning(struct verify *verify, const char *what, bool extra,
                          const int32_t *active, const int32_t *tokens);

/* Faults, accepted counts and running columns against the oracle. */
bool verify_compare_results(struct verify *verify, const char *place,
                            enum oracle_call call);

#endif
