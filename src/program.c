/* Gets clmove's programs for one device: compiled, or from the cache. */

#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A launch costs host time for each bank. A move has two buffers; a step's
 * states, tables and arrays seldom lie in one or two. */
const struct program_part program_parts[PROGRAM_PARTS] = {
    {"move",
     {"clmove_nothing", "clmove_move", "clmove_save", "clmove_batch",
      "clmove_batch_device"},
     {2, 16, 64}},
    {"ssm",
     {"clmove_nothing", "clmove_ssm_step", "clmove_ssm_aside",
      "clmove_ssm_indices", "clmove_ssm_copy", "clmove_ssm_zero"},
     {4, 16, 64}}};

/* All that the compiler said; freed by the caller; NULL when it said nothing
 * that can be had. */
static char *build_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL,
                              &size) != CL_SUCCESS)
        return NULL;
    char *text = calloc(size + 1, 1);
    if (text == NULL)
        return NULL;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text,
                              NULL) != CL_SUCCESS) {
        free(text);
        return NULL;
    }
    return text;
}

void program_options(const struct variant *variant,
                     const struct program_part *part, uint32_t bank_count,
                     char *options, size_t size)
{
    const bool moves = part == &program_parts[0];
    const uint32_t group =
        moves ? variant->move_group_size : variant->group_size;
    /* 1.2 is what the kernels need, and every device that is not refused has
     * it. */
    const int length =
        snprintf(options, size,
                 "-cl-std=CL1.2 -DCLMOVE_BANKS=%u -DCLMOVE_SLICE_ROWS=%u "
                 "-DCLMOVE_STAGE=%u -DCLMOVE_BATCH_SLICE=%u -DCLMOVE_CPU=%d "
                 "-DCLMOVE_TILE=%u -DCLMOVE_HELD=%u -DCLMOVE_GROUP=%u",
                 bank_count, variant->slice_rows, variant->stage_size,
                 variant->batch_slice, variant->cpu, variant->move_tile,
                 moves ? variant->move_held : variant->state_held,
                 variant->fixed_groups ? group : 0);
    if (moves && variant->move_registers > 0)
        snprintf(options + length, size - (size_t)length,
                 " -cl-nv-maxrregcount=%u", variant->move_registers);
}

static clmove_status build_text(const struct program_target *target,
                                const char *text, const char *options,
                                cl_program *program)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = target->log;
    cl_int created = CL_SUCCESS;
    char *said = NULL;
    cl_program built =
        clCreateProgramWithSource(target->context, 1, &text, NULL, &created);
    CHECK_CL(created);
    const cl_int result =
        clBuildProgram(built, 1, &target->device, options, NULL, NULL);
    if (result != CL_SUCCESS)
        said = build_log(built, target->device);
    CHECK(result == CL_SUCCESS, CLMOVE_BUILD_FAILED,
          "building the kernels with \"%s\" failed with %s; the compiler "
          "said:\n%s",
          options, clmove_status_name(result), said == NULL ? "" : said);
    *program = built;
    built = NULL;
out:
    free(said);
    if (built != NULL)
        clReleaseProgram(built);
    return status;
}

/* Builds what the cache held. Tries every kernel: drivers have taken binaries
 * of other versions that lacked some. */
static cl_int build_kept(const struct program_target *target,
                         const struct program_part *part, const char *options,
                         cl_program program)
{
    cl_int result =
        clBuildProgram(program, 1, &target->device, options, NULL, NULL);
    for (size_t i = 0; result == CL_SUCCESS && part->kernels[i] != NULL; i++) {
        cl_kernel kernel = clCreateKernel(program, part->kernels[i], &result);
        if (result == CL_SUCCESS)
            clReleaseKernel(kernel);
    }
    return result;
}

/* The program from the cache; NULL when it has none that can be used. */
static cl_program take_kept(const struct program_target *target,
                            const struct program_part *part,
                            const char *options, const char *title,
                            const char *text)
{
    cl_program kept = binary_load(target->cache, target->log, target->context,
                                  target->device, title, text);
    if (kept == NULL)
        return NULL;
    const cl_int result = build_kept(target, part, options, kept);
    if (result == CL_SUCCESS)
        return kept;
    log_message(target->log, CLMOVE_LOG_INFO, CLMOVE_SUCCESS,
                "the kept program %s cannot be used: %s", title,
                clmove_status_name(result));
    clReleaseProgram(kept);
    return NULL;
}

clmove_status program_make(const struct program_target *target,
                           const struct program_part *part, const char *text,
                           uint32_t bank_count, cl_program *program)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct binary_cache *cache = target->cache;
    char options[320];
    char title[340];
    program_options(target->variant, part, bank_count, options, sizeof options);
    snprintf(title, sizeof title, "%s %s", part->name, options);
    *program = take_kept(target, part, options, title, text);
    if (*program != NULL) {
        atomic_fetch_add(&cache->loaded, 1);
        return CLMOVE_SUCCESS;
    }
    CHECK_STATUS(build_text(target, text, options, program));
    atomic_fetch_add(&cache->built, 1);
    binary_store(cache, target->log, *program, target->device, title, text);
out:
    return status;
}
