/* Programs that are kept in a cache folder between runs, for one device. */

#include "binary.h"

#include "cache.h"

#include <clmove/version.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends a line; whatever could end it early becomes a space. */
static void add_line(char about[BINARY_ABOUT_ROOM], const char *name,
                     const char *value)
{
    const size_t used = strlen(about);
    const int added = snprintf(about + used, BINARY_ABOUT_ROOM - used,
                               "%s %s\n", name, value);
    if (added < 0 || (size_t)added >= BINARY_ABOUT_ROOM - used) {
        about[BINARY_ABOUT_ROOM - 2] = '\n';
        return;
    }
    for (char *at = about + used; at < about + used + added - 1; at++) {
        if ((unsigned char)*at < ' ')
            *at = ' ';
    }
}

/* All that a compiled program depends on beside its text and its options. A
 * query that fails leaves an empty value, never what happened to be there. */
static void describe(const struct clmove_device_info *device,
                     char about[BINARY_ABOUT_ROOM])
{
    char platform_version[256] = "";
    char bits[16];
    if (clGetPlatformInfo(device->platform, CL_PLATFORM_VERSION,
                          sizeof platform_version - 1, platform_version,
                          NULL) != CL_SUCCESS)
        platform_version[0] = '\0';
    snprintf(bits, sizeof bits, "%u", device->address_bits);
    about[0] = '\0';
    add_line(about, "device", device->name);
    add_line(about, "vendor", device->vendor);
    add_line(about, "version", device->version);
    add_line(about, "driver", device->driver_version);
    add_line(about, "address_bits", bits);
    add_line(about, "platform", device->platform_name);
    add_line(about, "platform_version", platform_version);
    add_line(about, "clmove", CLMOVE_VERSION_STRING);
}

void binary_cache_open(const struct clmove_log *log,
                       const struct clmove_device_info *device,
                       const char *directory, struct binary_cache *cache)
{
    cache->folder = -1;
    if (directory == NULL)
        directory = getenv("CLMOVE_CACHE_DIR");
    if (directory == NULL || directory[0] == '\0' ||
        strcmp(directory, "off") == 0)
        return;
    /* PoCL has a cache of its own; asked for a binary, it compiles every
     * kernel, and some versions abort on one that is damaged. */
    if (strcmp(device->platform_name, "Portable Computing Language") == 0)
        return;
    describe(device, cache->about);
    cache->folder = cache_open(directory);
    if (cache->folder < 0)
        log_message(log, CLMOVE_LOG_WARNING, CLMOVE_SUCCESS,
                    "the cache folder %s cannot be used: %s; programs are "
                    "built from their source",
                    directory, strerror(errno));
}

void binary_cache_close(struct binary_cache *cache)
{
    if (cache->folder >= 0)
        close(cache->folder);
    cache->folder = -1;
}

/* What an entry is about: the device's lines and the program's. */
static void add_title(const struct binary_cache *cache, const char *title,
                      char about[BINARY_ABOUT_ROOM])
{
    memcpy(about, cache->about, BINARY_ABOUT_ROOM);
    add_line(about, "program", title);
}

cl_program binary_load(const struct binary_cache *cache,
                       const struct clmove_log *log, cl_context context,
                       cl_device_id device, const char *title, const char *text)
{
    char about[BINARY_ABOUT_ROOM];
    unsigned char *bytes = NULL;
    size_t size = 0;
    cl_int accepted = CL_SUCCESS;
    cl_int created = CL_SUCCESS;
    if (cache->folder < 0)
        return NULL;
    add_title(cache, title, about);
    if (!cache_load(cache->folder, about, text, &bytes, &size))
        return NULL;
    cl_program program = clCreateProgramWithBinary(
        context, 1, &device, &size, (const unsigned char **)&bytes, &accepted,
        &created);
    free(bytes);
    if (created == CL_SUCCESS && accepted == CL_SUCCESS)
        return program;
    log_message(log, CLMOVE_LOG_INFO, CLMOVE_SUCCESS,
                "the driver refused the kept program %s with %s", title,
                clmove_status_name(created == CL_SUCCESS ? accepted : created));
    if (created == CL_SUCCESS && program != NULL)
        clReleaseProgram(program);
    return NULL;
}

/* Which of the program's devices it is; `count` when it is none of them. */
static size_t find_device(const cl_device_id *devices, size_t count,
                          cl_device_id device)
{
    size_t index = 0;
    while (index < count && devices[index] != device)
        index++;
    return index;
}

/* The binary for one of a program's `count` devices, for free(). */
static unsigned char *get_one(cl_program program, size_t count, size_t index,
                              size_t *size)
{
    size_t *sizes = calloc(count, sizeof *sizes);
    unsigned char **all = calloc(count, sizeof *all);
    unsigned char *own = NULL;
    if (sizes != NULL && all != NULL &&
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
                         count * sizeof *sizes, sizes, NULL) == CL_SUCCESS &&
        sizes[index] > 0 && sizes[index] <= CACHE_BYTES_MAX) {
        *size = sizes[index];
        /* Zeros: what a driver leaves out is no matter of chance. */
        own = calloc(*size, 1);
        all[index] = own; /* NULL for the others: they are passed over */
        if (own != NULL &&
            clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof *all,
                             all, NULL) != CL_SUCCESS) {
            free(own);
            own = NULL;
        }
    }
    free(all);
    free(sizes);
    return own;
}

static unsigned char *get_binary(cl_program program, cl_device_id device,
                                 size_t *size)
{
    unsigned char *own = NULL;
    size_t devices_size = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, 0, NULL, &devices_size) !=
        CL_SUCCESS)
        return NULL;
    const size_t count = devices_size / sizeof(cl_device_id);
    cl_device_id *devices = calloc(count + 1, sizeof *devices);
    if (devices != NULL &&
        clGetProgramInfo(program, CL_PROGRAM_DEVICES, devices_size, devices,
                         NULL) == CL_SUCCESS) {
        const size_t index = find_device(devices, count, device);
        if (index < count)
            own = get_one(program, count, index, size);
    }
    free(devices);
    return own;
}

void binary_store(struct binary_cache *cache, const struct clmove_log *log,
                  cl_program program, cl_device_id device, const char *title,
                  const char *text)
{
    char about[BINARY_ABOUT_ROOM];
    size_t size = 0;
    if (cache->folder < 0 || cache->cannot_store)
        return;
    unsigned char *bytes = get_binary(program, device, &size);
    if (bytes == NULL) {
        log_message(log, CLMOVE_LOG_INFO, CLMOVE_SUCCESS,
                    "the driver gives no binary of the program %s to keep",
                    title);
        return;
    }
    add_title(cache, title, about);
    if (!cache_store(cache->folder, about, text, bytes, size)) {
        log_message(log, CLMOVE_LOG_WARNING, CLMOVE_SUCCESS,
                    "the cache folder takes no programs: %s", strerror(errno));
        cache->cannot_store = true;
    }
    free(bytes);
}
