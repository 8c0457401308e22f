/* Where memories lie in their root buffers, decided without OpenCL. */

#ifndef BIND_H
#define BIND_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A clmove_memory that was looked up: a byte range of a root buffer, or of the
 * address space for SVM. */
struct memory_view {
    cl_mem root;            /* NULL for SVM */
    cl_mem handle;          /* as the caller named it; NULL for SVM */
    void *pointer;          /* as the caller named it; NULL for buffers */
    uint64_t handle_origin; /* of the handle in its root; SVM: the pointer */
    uint64_t handle_size;
    uint64_t offset;       /* from the handle's or pointer's start */
    uint64_t size;         /* bytes, never 0 unless the memory is empty */
    uint64_t misalignment; /* of the handle's first byte, modulo 16, as far as
                              the host can know it */
    cl_mem_flags flags;    /* CL_MEM_READ_WRITE for SVM */
};

/* What a kernel is given for a view. */
struct memory_binding {
    cl_mem handle;   /* NULL for SVM */
    void *pointer;   /* NULL for buffers */
    uint64_t offset; /* of the view's first byte */
};

/* First byte of the view in its root. */
static inline uint64_t view_origin(const struct memory_view *view)
{
    return view->handle_origin + view->offset;
}

/* Whether two ranges share a byte; an empty range shares none. */
bool ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size);

/* Whether two views share a byte. */
bool views_overlap(const struct memory_view *a, const struct memory_view *b);

/* Whether two views are one range. */
bool views_equal(const struct memory_view *a, const struct memory_view *b);

/* Chooses what to bind for views that one launch uses together: the caller's
 * own handles, or the root for all views of a root where two different handles
 * of it overlap. */
void bind_views(const struct memory_view *views, size_t count,
                struct memory_binding *bindings);

/* Whether two bindings need only one kernel argument. */
bool bindings_share(const struct memory_binding *a,
                    const struct memory_binding *b);

#endif
