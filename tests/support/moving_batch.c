/* Batches of moves, on the device and by the reference. */

#include "moving_batch.h"

#include "testing.h"

enum { PLACES = 128 };

clmove_status moving_batch_try(struct test_device *device,
                               struct clmove_engine *engine,
                               const struct moving_list *list,
                               struct clmove_batch **batch)
{
    struct clmove_memory memories[PLACES];
    const struct clmove_batch_params params = {
        .memories = memories,
        .memory_count = list->place_count,
        .regions = list->regions,
        .region_count = list->region_count,
        .variant = list->variant,
        .scratch_limit = list->scratch_limit,
        .scratch = list->scratch,
    };

    assert_true(list->place_count <= PLACES);
    for (size_t i = 0; i < list->place_count; i++) {
        const struct moving_place *place = &list->places[i];
        memories[i] = moving_memory(place->moving, place->offset);
        if (place->window) {
            memories[i].buffer = place->window;
            memories[i].offset -= place->origin;
        }
    }
    return clmove_batch_create(engine, &device->log, &params, batch);
}

struct clmove_batch *moving_batch_create(struct test_device *device,
                                         struct clmove_engine *engine,
                                         const struct moving_list *list)
{
    struct clmove_batch *batch = NULL;

    moving_status(device, moving_batch_try(device, engine, list, &batch),
                  CLMOVE_SUCCESS);
    assert_non_null(batch);
    return batch;
}

void moving_batch_expect(const struct moving_list *list)
{
    struct ref_region *regions =
        test_calloc(list->region_count + 1, sizeof(*regions));

    for (size_t i = 0; i < list->region_count; i++) {
        const struct clmove_region *from = &list->regions[i];
        const struct moving_place *src = &list->places[from->src_memory];
        const struct moving_place *dst = &list->places[from->dst_memory];
        regions[i] = (struct ref_region){
            .src = src->moving->expected + src->offset + from->src_offset,
            .dst = dst->moving->expected + dst->offset + from->dst_offset,
            .size = (size_t)from->size,
            .rows = from->rows ? (size_t)from->rows : 1,
            .src_stride = (size_t)from->src_stride,
            .dst_stride = (size_t)from->dst_stride,
        };
    }
    assert_true(ref_batch(regions, list->region_count));
    test_free(regions);
}

void moving_batch_run(struct test_device *device, struct clmove_engine *engine,
                      const struct moving_list *list)
{
    struct clmove_batch *batch = moving_batch_create(device, engine, list);

    moving_status(device,
                  clmove_enqueue_batch(batch, device->queue, 0, NULL, NULL),
                  CLMOVE_SUCCESS);
    clmove_batch_destroy(&batch);
    assert_null(batch);
    moving_batch_expect(list);
}

void moving_batch(struct test_device *device, struct moving *moving,
                  const struct clmove_region *regions, size_t count)
{
    const struct moving_place place = {.moving = moving};
    const struct moving_list list = {.places = &place,
                                     .place_count = 1,
                                     .regions = regions,
                                     .region_count = count};

    moving_batch_run(device, device->engine, &list);
}
