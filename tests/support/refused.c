/* Steps that are refused, and leave the device as it was. */

#include "refused.h"

#include "testing.h"

void refused_finish(struct stage *stage, struct scene *scene)
{
    assert_int_equal(clFinish(stage->device->queue), CL_SUCCESS);
    assert_true(stage_compare(stage, 0));
    stage_close(stage);
    scene_clear(scene);
    test_free(stage);
}

void refused_expect(struct stage *stage, clmove_status status,
                    clmove_status want, const char *first, const char *second)
{
    if (status != want) {
        print_error("%s in place of %s; messages:\n%s",
                    clmove_status_name(status), clmove_status_name(want),
                    stage->device->messages);
        fail();
    }
    device_expect_message(stage->device, first);
    device_expect_message(stage->device, second);
}

void refused_step(struct stage *stage, clmove_status want, const char *first,
                  const char *second)
{
    clmove_status status;

    stage->step = (struct clmove_ssm_step *)stage;
    device_clear_messages(stage->device);
    status = clmove_ssm_step_create(stage->layout, &stage->step_params,
                                    &stage->step);
    refused_expect(stage, status, want, first, second);
    assert_null(stage->step);
}
