/* clmove cache: the folder of compiled programs, and whether it helps. */

#include "commands.h"
#include "progress.h"
#include "session.h"
#include "user_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "Starts clmove on the device, and says for each part how long that took "
    "and\n"
    "whether its program was taken from the cache folder or compiled; one that "
    "was\n"
    "compiled is kept for the next start. Then lists what the folder holds.\n"
    "\n"
    "The folder is CLMOVE_CACHE_DIR, else clmove in XDG_CACHE_HOME, else\n"
    ".cache/clmove in HOME; CLMOVE_CACHE_DIR=off means none. PoCL has a cache "
    "of its\n"
    "own, and the folder is not used there.\n";

/* As docs/design.md gives the form of an entry. */
static const char entry_ending[] = ".program";
static const char unfinished_start[] = "unfinished-";

static bool is_entry(const char *name)
{
    const size_t size = strlen(name);
    const size_t key = strspn(name, "0123456789abcdef");
    return key == 32 && size > key && strcmp(name + key, entry_ending) == 0;
}

static bool is_unfinished(const char *name)
{
    return strncmp(name, unfinished_start, sizeof unfinished_start - 1) == 0;
}

static int keep_entry(const struct dirent *file)
{
    return is_entry(file->d_name);
}

static int keep_own(const struct dirent *file)
{
    return is_entry(file->d_name) || is_unfinished(file->d_name);
}

/* The files of the folder that `keep` wants, by name; none when it cannot be
 * read. */
static int list_files(const char *folder, int (*keep)(const struct dirent *),
                      struct dirent ***files)
{
    int count = scandir(folder, files, keep, alphasort);
    if (count >= 0)
        return count;
    *files = NULL;
    if (errno != ENOENT)
        cli_error("%s: cannot be read: %s", folder, strerror(errno));
    return 0;
}

static void free_files(struct dirent **files, int count)
{
    for (int i = 0; i < count; i++)
        free(files[i]);
    free(files);
}

/* The start of an entry, ended by a zero. */
static bool read_start(int folder, const char *name, char *text, size_t room)
{
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    ssize_t got = file < 0 ? -1 : read(file, text, room - 1);
    text[got > 0 ? got : 0] = '\0';
    if (file >= 0)
        close(file);
    return got > 0;
}

/* What the header's line says behind its name, cut to `room`; "?" when there is
 * no such line. */
static void copy_line(const char *header, const char *name, char *out, int room)
{
    char start[32];
    snprintf(start, sizeof start, "\n%s ", name);
    const char *line = strstr(header, start);
    snprintf(out, (size_t)room, "?");
    if (line) {
        line += strlen(start);
        int size = (int)strcspn(line, "\n");
        snprintf(out, (size_t)room, "%.*s", size, line);
    }
}

static void print_entry(int folder, const char *name, uint64_t *total)
{
    char header[2048], size[32], date[32] = "?";
    char device[33], driver[17], version[12], program[8];
    unsigned banks = 0;
    struct stat status;
    struct tm local;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !read_start(folder, name, header, sizeof header))
        return;
    *total += (uint64_t)status.st_size;
    if (localtime_r(&status.st_mtime, &local))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &local);
    copy_line(header, "device", device, sizeof device);
    copy_line(header, "driver", driver, sizeof driver);
    copy_line(header, "clmove", version, sizeof version);
    copy_line(header, "program", program, sizeof program);
    program[strcspn(program, " ")] = '\0';
    const char *option = strstr(header, "-DCLMOVE_BANKS=");
    if (option)
        sscanf(option, "-DCLMOVE_BANKS=%u", &banks);
    printf("  %10s  %16s  %-7s %5u  %-7s %-16s %s\n",
           session_size_text(size, (uint64_t)status.st_size), date, program,
           banks, version, driver, device);
}

static void print_entries(const char *path)
{
    struct dirent **files = NULL;
    uint64_t total = 0;
    char text[32];
    int count = list_files(path, keep_entry, &files);
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    if (count > 0)
        printf("  %10s  %-16s  %-7s %5s  %-7s %-16s %s\n", "size", "last used",
               "program", "banks", "clmove", "driver", "device");
    for (int i = 0; i < count; i++)
        print_entry(folder, files[i]->d_name, &total);
    printf("entries  %d, %s\n", count, session_size_text(text, total));
    if (folder >= 0)
        close(folder);
    free_files(files, count);
}

static enum cli_exit clear(const char *path)
{
    struct dirent **files = NULL;
    int removed = 0;
    enum cli_exit code = CLI_FINE;
    int count = list_files(path, keep_own, &files);
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < count; i++) {
        if (unlinkat(folder, files[i]->d_name, 0) == 0) {
            removed++;
        } else if (errno != ENOENT) {
            cli_error("%s/%s: cannot be removed: %s", path, files[i]->d_name,
                      strerror(errno));
            code = CLI_BAD_INPUT;
        }
    }
    if (folder >= 0)
        close(folder);
    free_files(files, count);
    printf("removed  %d of %d files\n", removed, count);
    return code;
}

/* Makes an engine for one part, and says how long that took. */
static enum cli_exit start_part(struct session *session, uint32_t part,
                                const char *name)
{
    double seconds = 0;
    const char *how = "";
    enum cli_exit code = session_time_engine(session, part, &seconds, &how);
    if (code == CLI_GO_ON)
        printf("%-8s %.1f ms, %s\n", name, seconds * 1e3, how);
    return code;
}

static enum cli_exit start(const char *selection)
{
    struct session session;
    double begin = progress_seconds();
    enum cli_exit code = session_open_device(&session, selection);
    if (code == CLI_GO_ON) {
        printf("device   %s (%u:%u)\n", session.device.name,
               session.device.platform_index, session.device.device_index);
        printf("context  %.1f ms, with the search for devices\n",
               (progress_seconds() - begin) * 1e3);
        code = start_part(&session, CLMOVE_PART_MOVES, "moves");
    }
    if (code == CLI_GO_ON)
        code = start_part(&session, CLMOVE_PART_STATES, "states");
    session_close(&session);
    return code == CLI_GO_ON ? CLI_FINE : code;
}

enum cli_exit cmd_cache(int argc, char **argv)
{
    const char *device = NULL;
    bool clears = false;
    const struct cli_option options[] = {
        {"device", CLI_TEXT, "S",
         "gpu, cpu, accelerator, PLATFORM:DEVICE or a part\nof a name. "
         "Default: CLMOVE_DEVICE, else the first\nof gpu, accelerator, cpu.",
         &device, 0, 0, NULL},
        {"clear", CLI_FLAG, NULL, "Remove all programs, and start nothing.",
         &clears, 0, 0, NULL}};
    const struct cli_command command = {
        "cache", NULL, NULL, help, options, sizeof options / sizeof *options,
        NULL};
    char folder[USER_CACHE_ROOM];
    enum cli_exit code = cli_parse(&command, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    if (clears && device) {
        cli_error("cache: --clear starts nothing, so --device has no meaning");
        return CLI_BAD_INPUT;
    }
    bool has_folder = strcmp(user_cache_folder(folder), "off") != 0;
    printf("folder   %s\n", has_folder ? folder : "none");
    if (clears)
        return has_folder ? clear(folder) : CLI_FINE;
    code = start(device);
    if (has_folder)
        print_entries(folder);
    return code;
}
