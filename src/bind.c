/* Where memories lie in their root buffers, decided without OpenCL. */

#include "bind.h"

bool ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    if (a_size == 0 || b_size == 0)
        return false;
    return a <= b ? b - a < a_size : a - b < b_size;
}

bool views_overlap(const struct memory_view *a, const struct memory_view *b)
{
    return a->root == b->root &&
           ranges_overlap(view_origin(a), a->size, view_origin(b), b->size);
}

bool views_equal(const struct memory_view *a, const struct memory_view *b)
{
    return a->root == b->root && view_origin(a) == view_origin(b) &&
           a->size == b->size;
}

/* Whether a root must stand in for its handles: using two that overlap in one
 * command is undefined when one is written. */
static bool needs_root(const struct memory_view *views, size_t count,
                       cl_mem root)
{
    for (size_t i = 0; i < count; i++) {
        if (views[i].root != root)
            continue;
        for (size_t j = 0; j < i; j++) {
            if (views[j].root == root && views[j].handle != views[i].handle &&
                ranges_overlap(views[i].handle_origin, views[i].handle_size,
                               views[j].handle_origin, views[j].handle_size))
                return true;
        }
    }
    return false;
}

/* The first view of the same root, whose answer holds for all of them. */
static size_t first_of_root(const struct memory_view *views, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (views[i].root == views[index].root)
            return i;
    }
    return index;
}

void bind_views(const struct memory_view *views, size_t count,
                struct memory_binding *bindings)
{
    for (size_t i = 0; i < count; i++) {
        const struct memory_view *view = &views[i];
        struct memory_binding *binding = &bindings[i];
        *binding =
            (struct memory_binding){view->handle, view->pointer, view->offset};
        if (view->root == NULL)
            continue;
        const size_t first = first_of_root(views, i);
        const bool root = first == i ? needs_root(views, count, view->root)
                                     : bindings[first].handle == view->root;
        /* When the first handle is the root itself and nothing overlaps, the
         * others are the root as well, or empty: binding it is right too. */
        if (root) {
            binding->handle = view->root;
            binding->offset = view_origin(view);
        }
    }
}

bool bindings_share(const struct memory_binding *a,
                    const struct memory_binding *b)
{
    return a->handle == b->handle && a->pointer == b->pointer;
}
