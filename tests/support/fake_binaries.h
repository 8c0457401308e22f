/* A driver that gives binaries, counts its calls, and fails when told to. */

#ifndef FAKE_BINARIES_H
#define FAKE_BINARIES_H

#include <CL/cl.h>
#include <stdatomic.h>

/* PoCL has a cache of its own, so clmove keeps no programs there. A program
 * that is linked with fake_binaries.c, or runs with it preloaded, takes PoCL
 * for another platform, whose binaries are a device's name and the source text;
 * they are refused on a device of another name. Other platforms' binaries are
 * their own. A source of the program, not of a library: it stands in for
 * OpenCL's own functions. */
struct fake_binaries {
    /* what to do; 0 and NULL: as usual */
    const char *driver_version;
    cl_ulong local_size;        /* of a device; changes build options */
    cl_int create_status;       /* of clCreateProgramWithBinary */
    cl_int binary_status;       /* what that says of the binary */
    cl_int build_status;        /* of a build of a binary */
    const char *missing_kernel; /* not in a binary's program */
    cl_int query_status;        /* of queries for binaries and their sizes */
    int empty;                  /* binaries have no bytes */
    int no_platform_version;    /* that query fails */

    /* what was done */
    atomic_int from_source, from_binary; /* programs created */
    atomic_int unwanted; /* binaries asked for beside the first of a query */
};

extern struct fake_binaries fake_binaries;

#endif
