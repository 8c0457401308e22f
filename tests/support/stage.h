/* A scene in device memory, beside the same bytes for the reference. */

#ifndef STAGE_H
#define STAGE_H

#include "device.h"
#include "scene.h"

/* One allocation, three times: as it was before the first call, as the
 * reference leaves it, as the device left it. */
struct stage_image {
    char name[32];
    unsigned char *before, *expected, *actual;
    size_t size;
    cl_mem buffer;
    void *svm;
    unsigned char *host; /* what a SCENE_HOST_POINTER buffer lies in */
};

enum stage_array {
    STAGE_COMPUTED,
    STAGE_SCHEDULED,
    STAGE_DRAFT,
    STAGE_ACCEPTED_IN,
    STAGE_ACCEPTED_OUT,
    STAGE_COLUMN_IN,
    STAGE_COLUMN_OUT,
    STAGE_FAULTS,
    STAGE_SLOT_OF,
    STAGE_STARTS,
    STAGE_NOW,
    STAGE_SOURCE,
    STAGE_DESTINATION,
    STAGE_BIAS,
    STAGE_INDICES, /* what the call of that name writes */
    STAGE_ARRAYS,
    STAGE_TABLES = STAGE_ARRAYS, /* one place per group from here on */
    STAGE_PLACES = STAGE_ARRAYS + SCENE_MAX_GROUPS
};

/* Where an array or table lies. Size 0: it is absent. */
struct stage_place {
    uint32_t image;
    size_t offset, size;
};

struct stage {
    struct scene *scene;
    struct test_device *device;
    struct stage_image images[SCENE_MAX_POOLS + STAGE_PLACES];
    uint32_t image_count; /* pool i is image i; sub-buffers have no bytes */
    struct stage_place places[STAGE_PLACES];

    /* Filled by stage_prepare; a test of bad input changes them. */
    struct clmove_ssm_state states[SCENE_MAX_STATES];
    struct clmove_ssm_group groups[SCENE_MAX_GROUPS];
    struct clmove_ssm_table tables[SCENE_MAX_GROUPS];
    struct clmove_ssm_layout_params layout_params;
    struct clmove_ssm_step_params step_params;
    struct clmove_memory indices;

    struct ref_state ref_states[SCENE_MAX_STATES];
    struct ref_group ref_groups[SCENE_MAX_GROUPS];
    struct ref_table ref_tables[SCENE_MAX_GROUPS];
    struct ref_step reference;

    struct clmove_ssm_layout *layout;
    struct clmove_ssm_step *step;
};

/* Allocates everything and fills it; makes no object of the library. The scene
 * must outlive the stage. Failures fail the running test. */
void stage_prepare(struct stage *stage, struct test_device *device,
                   struct scene *scene);

/* Makes layout and step. Failures fail the running test. */
void stage_create(struct stage *stage, struct clmove_engine *engine);

void stage_close(struct stage *stage);

/* Back to the bytes from before the first call, on both sides. */
void stage_reset(struct stage *stage);

/* The call on the device for the scene's rows, on the device's own queue;
 * waits for it. */
void stage_call(struct stage *stage, enum scene_operation operation);

/* The same on `queue`, without waiting. The caller releases the event. */
cl_event stage_enqueue(struct stage *stage, enum scene_operation operation,
                       cl_command_queue queue, cl_uint wait_count,
                       const cl_event *wait_list);

/* The same call by the reference. */
void stage_expect(struct stage *stage, enum scene_operation operation);

/* Reads everything back. 1 if every byte of every allocation is right, else 0
 * with the first difference on stderr (unless quiet). */
int stage_compare(struct stage *stage, int quiet);

/* The device's bytes of a place, as of the last stage_compare. */
const int32_t *stage_actual(const struct stage *stage, enum stage_array array);

/* Changes one byte on the device, to prove that stage_compare sees it. */
void stage_damage(struct stage *stage, uint32_t image, size_t offset);

/* All of it: one call against the reference. Fails the running test on a
 * difference. Nothing is done for a scene that --case leaves out. */
void scene_check(struct scene *scene, struct test_device *device,
                 struct clmove_engine *engine, enum scene_operation operation);

/* The same without failing: 1 if all bytes are right, 0 if not. */
int scene_is_right(struct scene *scene, struct test_device *device,
                   struct clmove_engine *engine,
                   enum scene_operation operation);

#endif
