/* Processes that race on one cache folder: pocl/pocl issue 1480. */

/* Source: libocca/occa issue 449, pocl/pocl issue 1480. Parallel processes read
 * entries that others had half written. Here the folder is raced for as files;
 * regression/cache_starts.c starts engines. */

#include "cache.h"

#include "cache_folder.h"
#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PROCESSES = 32,
    ROUNDS = 20,
    TEXTS = 3,
    SIZE = 200000,
    HEADER_MAX = 1000,
    OK = 40
};

/* Two versions of clmove share the folder. */
static const char *const versions[] = {"device d\nclmove 1\n",
                                       "device d\nclmove 2\n"};
static const char *const texts[TEXTS] = {"text a", "text b", "text c"};

/* What belongs to a version and a text. */
static void fill(unsigned char *bytes, int version, int text)
{
    for (size_t i = 0; i < SIZE; i++) {
        bytes[i] = (unsigned char)(i * 7 + i / 251 + (size_t)version * 64 +
                                   (size_t)text * 16);
    }
}

/* What a start does: takes what is there, else makes and keeps it. */
static int start(const char *path, int version, unsigned char *want)
{
    const int folder = cache_open(path);
    unsigned char *bytes;
    size_t size;

    if (folder < 0) {
        return 1;
    }
    for (int text = 0; text < TEXTS; text++) {
        fill(want, version, text);
        if (cache_load(folder, versions[version], texts[text], &bytes, &size)) {
            if (size != SIZE || memcmp(bytes, want, SIZE) != 0) {
                return 2;
            }
            free(bytes);
        } else if (!cache_store(folder, versions[version], texts[text], want,
                                SIZE)) {
            return 3;
        }
    }
    close(folder);
    return OK;
}

/* Whether a file's end is what belongs to some version and text. */
static int is_whole(const unsigned char *file, size_t size, unsigned char *want)
{
    if (size <= SIZE || size > SIZE + HEADER_MAX) {
        return 0;
    }
    for (int which = 0; which < 2 * TEXTS; which++) {
        fill(want, which / TEXTS, which % TEXTS);
        if (memcmp(file + size - SIZE, want, SIZE) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Looks at every final name there is; -1, or how many were whole. Knows nothing
 * of cache.c. */
static int look(const char *path, unsigned char *want)
{
    unsigned char *content = malloc(SIZE + HEADER_MAX + 1);
    DIR *list = opendir(path);
    struct dirent *one;
    int whole = 0;

    while (content && list && whole >= 0 && (one = readdir(list)) != NULL) {
        const char *dot = strrchr(one->d_name, '.');
        char name[700];
        FILE *file;
        if (!dot || strcmp(dot, ".program") != 0) {
            continue;
        }
        snprintf(name, sizeof(name), "%s/%s", path, one->d_name);
        file = fopen(name, "rb");
        if (file) {
            const size_t size = fread(content, 1, SIZE + HEADER_MAX + 1, file);
            whole = is_whole(content, size, want) ? whole + 1 : -1;
            fclose(file);
        }
    }
    if (list) {
        closedir(list);
    }
    free(content);
    return whole;
}

/* Looks until it is killed, or finds what is not whole. */
static int watch(const char *path, unsigned char *want)
{
    while (look(path, want) >= 0) {
    }
    return 4;
}

static int write_on(const char *path, int version, unsigned char *want)
{
    const int folder = cache_open(path);

    for (int text = 0; folder >= 0; text = (text + 1) % TEXTS) {
        fill(want, version, text);
        if (!cache_store(folder, versions[version], texts[text], want, SIZE)) {
            return 5;
        }
    }
    return 6;
}

enum role { START, WATCH, WRITE_ON };

static pid_t launch(enum role role, const char *path, int version)
{
    pid_t process;

    fflush(NULL);
    process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        unsigned char *want = malloc(SIZE);
        alarm(100); /* should the test fail and leave it */
        _exit(!want              ? 7
              : role == START    ? start(path, version, want)
              : role == WATCH    ? watch(path, want)
              : role == WRITE_ON ? write_on(path, version, want)
                                 : 8);
    }
    return process;
}

static void expect_ok(pid_t process)
{
    int status = 0;

    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), OK);
}

/* It must still be at work. */
static void expect_killed(pid_t process)
{
    int status = 0;

    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    if (!WIFSIGNALED(status)) {
        print_error("it left by itself with %d\n", WEXITSTATUS(status));
        fail();
    }
}

static void test_starts(void **state)
{
    unsigned char *want = malloc(SIZE);

    (void)state;
    assert_non_null(want);
    for (int round = 0; round < ROUNDS; round++) {
        struct cache_folder folder;
        pid_t processes[PROCESSES], watcher;
        cache_folder_open(&folder, "raced");
        watcher = launch(WATCH, folder.path, 0);
        for (int i = 0; i < PROCESSES; i++) {
            processes[i] = launch(START, folder.path, i % 2);
        }
        for (int i = 0; i < PROCESSES; i++) {
            expect_ok(processes[i]);
        }
        expect_killed(watcher);
        /* both versions' programs, once each, and nothing else */
        assert_int_equal(look(folder.path, want), 2 * TEXTS);
        assert_int_equal(cache_folder_files(&folder).unfinished, 0);
        cache_folder_close(&folder);
    }
    free(want);
}

static void test_killed_writers(void **state)
{
    unsigned char *want = malloc(SIZE);
    struct cache_folder folder;
    pid_t watcher;
    size_t left = 0;

    (void)state;
    assert_non_null(want);
    cache_folder_open(&folder, "killed");
    watcher = launch(WATCH, folder.path, 0);
    /* until one was killed in the middle of a file, which is soon */
    for (int round = 0; round < 2000 && (round < ROUNDS || left == 0);
         round++) {
        pid_t writers[4];
        for (int i = 0; i < 4; i++) {
            writers[i] = launch(WRITE_ON, folder.path, i % 2);
        }
        sleep_milliseconds(5 + round % 7);
        for (int i = 0; i < 4; i++) {
            expect_killed(writers[i]);
        }
        left = cache_folder_files(&folder).unfinished;
    }
    expect_killed(watcher);
    assert_true(left > 0);
    for (int version = 0; version < 2; version++) {
        expect_ok(launch(START, folder.path, version));
    }
    assert_int_equal(look(folder.path, want), 2 * TEXTS);
    free(want);
    cache_folder_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_starts),
                                       cmocka_unit_test(test_killed_writers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
