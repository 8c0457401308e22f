/* Calls of OpenCL, and allocations, that fail on request and are counted. */

#ifndef FAULTS_H
#define FAULTS_H

/* Those of the library's own objects, which are linked into the program with
 * these calls led through faults.c. A source of the program, not of a library.
 */
struct faults {
    long at;          /* the call that fails, counted down to 0; 0: none */
    const char *name; /* of the call that failed, or NULL */
    long objects;     /* of OpenCL: made or retained, less those released */
    long allocations; /* of the heap, less those freed */
};
extern struct faults faults;

#endif
