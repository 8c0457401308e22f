/* Builds clmove's programs for one device. */

#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint32_t program_bank_counts[PROGRAM_BANK_CHOICES] = {2, 16, 64};

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

void program_options(const struct variant *variant, uint32_t bank_count,
                     char *options, size_t size)
{
    /* 1.2 is what the kernels need, and every device that is not refused has
     * it. */
    snprintf(options, size,
             "-cl-std=CL1.2 -DCLMOVE_BANKS=%u -DCLMOVE_SLICE_ROWS=%u "
             "-DCLMOVE_BATCH_SLICE=%u -DCLMOVE_CPU=%d",
             bank_count, variant->slice_rows, variant->batch_slice,
             variant->cpu);
}

clmove_status program_build(const struct clmove_log *log, cl_context context,
                            cl_device_id device, const char *text,
                            const struct variant *variant, uint32_t bank_count,
                            cl_program *program)
{
    clmove_status status = CLMOVE_SUCCESS;
    cl_int created = CL_SUCCESS;
    char options[200];
    char *said = NULL;
    program_options(variant, bank_count, options, sizeof options);
    cl_program built =
        clCreateProgramWithSource(context, 1, &text, NULL, &created);
    CHECK_CL(created);
    const cl_int result =
        clBuildProgram(built, 1, &device, options, NULL, NULL);
    if (result != CL_SUCCESS)
        said = build_log(built, device);
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
