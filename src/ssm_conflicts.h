/* Which entries of a list of copies touch what another writes. */

#ifndef SSM_CONFLICTS_H
#define SSM_CONFLICTS_H

#include "ssm.h"

/* Refuses a list in which a block that an entry writes is written or read by
 * another. The entries have been checked; count is at least 1. */
clmove_status conflicts_check(const struct clmove_ssm_layout *from,
                              const struct clmove_ssm_layout *to,
                              const struct clmove_ssm_copy *copies,
                              size_t count);

#endif
