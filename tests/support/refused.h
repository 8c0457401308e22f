/* Steps that are refused, and leave the device as it was. */

#ifndef REFUSED_H
#define REFUSED_H

#include "stage.h"

/* Ends a case: nothing on the device has changed. Closes the stage. */
void refused_finish(struct stage *stage, struct scene *scene);

/* The status, and two parts of what the log said. */
void refused_expect(struct stage *stage, clmove_status status,
                    clmove_status want, const char *first, const char *second);

/* Making the stage's step is refused so. */
void refused_step(struct stage *stage, clmove_status want, const char *first,
                  const char *second);

/* One changed field; the good one returns afterwards. */
#define REFUSE(field, value, status, first, second)                            \
    do {                                                                       \
        struct clmove_ssm_step_params kept = stage->step_params;               \
        stage->step_params.field = (value);                                    \
        refused_step(stage, status, first, second);                            \
        stage->step_params = kept;                                             \
    } while (0)

#endif
