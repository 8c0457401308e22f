/* The folder of compiled programs, as files: no device. */

#include "cache.h"

#include "cache_folder.h"
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char about[] = "device one\nclmove 1\n";
static const char text[] = "__kernel void nothing(void) {}\n";
static const unsigned char bytes[] = {0, 1, 2, 255, 10, 0, 77};

static int open_folder(struct cache_folder *folder, const char *name)
{
    int opened;

    cache_folder_open(folder, name);
    opened = cache_open(folder->path);
    assert_true(opened >= 0);
    return opened;
}

static void close_folder(struct cache_folder *folder, int opened)
{
    assert_int_equal(close(opened), 0);
    cache_folder_close(folder);
}

/* Whether the entry is there with just these bytes. */
static int holds(int folder, const char *of, const char *source,
                 const unsigned char *want, size_t want_size)
{
    unsigned char *got = NULL;
    size_t size = 0;
    int same;

    if (!cache_load(folder, of, source, &got, &size)) {
        assert_null(got);
        return 0;
    }
    same = size == want_size && memcmp(got, want, size) == 0;
    free(got);
    return same;
}

static int holds_bytes(int folder)
{
    return holds(folder, about, text, bytes, sizeof(bytes));
}

static int store_bytes(int folder)
{
    return cache_store(folder, about, text, bytes, sizeof(bytes));
}

/* The published values of FNV-1a, and one computed by long multiplication. */
static void test_hash(void **state)
{
    static const struct {
        const char *text;
        uint64_t high, low;
    } cases[] = {
        {"", UINT64_C(0x6c62272e07bb0142), UINT64_C(0x62b821756295c58d)},
        {"a", UINT64_C(0xd228cb696f1a8caf), UINT64_C(0x78912b704e4a8964)},
        {"foobar", UINT64_C(0x343e1662793c64bf), UINT64_C(0x6f0d3597ba446f18)}};
    unsigned char all[1024];
    struct cache_hash hash;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hash = cache_hash_add(cache_hash_start(), cases[i].text,
                              strlen(cases[i].text));
        assert_true(hash.high == cases[i].high && hash.low == cases[i].low);
    }
    for (size_t i = 0; i < sizeof(all); i++) {
        all[i] = (unsigned char)i;
    }
    hash = cache_hash_add(cache_hash_start(), all, 500);
    hash = cache_hash_add(hash, all + 500, sizeof(all) - 500);
    assert_true(hash.high == UINT64_C(0xa14176b4fa8be677) &&
                hash.low == UINT64_C(0x563f36da8584718d));
}

static void test_keys(void **state)
{
    struct cache_folder folder;
    const int opened = open_folder(&folder, "keys");

    (void)state;
    assert_false(holds_bytes(opened));
    assert_true(store_bytes(opened));
    assert_true(holds_bytes(opened));
    /* any other input is another entry; so is a shifted border */
    assert_false(
        holds(opened, "device two\nclmove 1\n", text, bytes, sizeof(bytes)));
    assert_false(holds(opened, about, "__kernel void nothing(void) {} \n",
                       bytes, sizeof(bytes)));
    assert_true(cache_store(opened, "ab", "c", bytes, 1));
    assert_false(holds(opened, "a", "bc", bytes, 1));
    /* and all of them lie side by side */
    assert_true(cache_store(opened, "device two\nclmove 1\n", text, bytes, 2));
    assert_true(cache_store(opened, "a", "bc", bytes, 3));
    assert_true(holds(opened, "ab", "c", bytes, 1));
    assert_true(holds_bytes(opened));
    /* replaced as a whole */
    assert_true(cache_store(opened, about, text, bytes + 3, 4));
    assert_true(holds(opened, about, text, bytes + 3, 4));
    assert_int_equal(cache_folder_files(&folder).entries, 4);
    assert_int_equal(cache_folder_files(&folder).unfinished, 0);
    assert_int_equal(cache_folder_files(&folder).others, 0);
    close_folder(&folder, opened);
}

static void test_bad_sizes(void **state)
{
    struct cache_folder folder;
    const int opened = open_folder(&folder, "sizes");
    unsigned char *large = calloc(CACHE_BYTES_MAX + 1, 1);

    (void)state;
    assert_non_null(large);
    assert_false(cache_store(opened, about, text, bytes, 0));
    assert_false(cache_store(opened, about, text, large, CACHE_BYTES_MAX + 1));
    assert_int_equal(cache_folder_files(&folder).entries, 0);
    assert_true(cache_store(opened, about, text, large, CACHE_BYTES_MAX));
    assert_true(holds(opened, about, text, large, CACHE_BYTES_MAX));
    free(large);
    close_folder(&folder, opened);
}

static size_t read_entry(const char *path, unsigned char *content, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t size;

    assert_non_null(file);
    size = fread(content, 1, room, file);
    assert_int_equal(fclose(file), 0);
    assert_true(size < room);
    return size;
}

static void write_entry(const char *path, const unsigned char *content,
                        size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Every byte changed, every length: none of them is taken. */
static void test_damage(void **state)
{
    struct cache_folder folder;
    const int opened = open_folder(&folder, "damage");
    unsigned char content[1024];
    const char *path;
    struct cache_files files;
    size_t size;

    (void)state;
    assert_true(store_bytes(opened));
    files = cache_folder_files(&folder);
    path = files.last_entry;
    size = read_entry(path, content, sizeof(content));
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            content[i] ^= (unsigned char)(1 << bit);
            write_entry(path, content, size);
            assert_false(holds_bytes(opened));
            content[i] ^= (unsigned char)(1 << bit);
        }
    }
    for (size_t cut = 0; cut < size; cut++) {
        write_entry(path, content, cut);
        assert_false(holds_bytes(opened));
    }
    content[size] = 0;
    write_entry(path, content, size + 1);
    assert_false(holds_bytes(opened));
    write_entry(path, content, size);
    assert_true(holds_bytes(opened));
    /* an entry under the name of another */
    assert_true(cache_store(opened, about, "other", bytes, sizeof(bytes)));
    write_entry(path, content, size);
    assert_true(holds_bytes(opened));
    assert_int_equal(truncate(path, 3), 0);
    assert_true(store_bytes(opened));
    assert_true(holds_bytes(opened));
    close_folder(&folder, opened);
}

/* What is no regular file, or far too large, in the place of an entry. */
static void test_odd_files(void **state)
{
    struct cache_folder folder;
    const int opened = open_folder(&folder, "odd");
    char target[700];
    struct cache_files files;
    const char *path;
    struct stat status;

    (void)state;
    assert_true(store_bytes(opened));
    files = cache_folder_files(&folder);
    path = files.last_entry;
    snprintf(target, sizeof(target), "%s/target", folder.path);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_false(holds_bytes(opened));
    assert_true(store_bytes(opened)); /* the link goes, not its target */
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_true(holds_bytes(opened));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(holds_bytes(opened)); /* and does not wait for a writer */
    assert_true(store_bytes(opened));
    assert_true(holds_bytes(opened));

    assert_int_equal(truncate(path, INT64_C(1) << 40), 0);
    assert_false(holds_bytes(opened));
    assert_true(store_bytes(opened));
    assert_true(holds_bytes(opened));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(holds_bytes(opened));
    assert_false(store_bytes(opened));
    assert_int_equal(cache_folder_files(&folder).unfinished, 0);
    close_folder(&folder, opened);
}

static void set_age(int folder, const char *name, long seconds)
{
    struct timespec times[2] = {{0}, {0}};

    assert_int_equal(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    assert_int_equal(utimensat(folder, name, times, 0), 0);
}

static void make_file(int folder, const char *name, long age)
{
    const int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    set_age(folder, name, age);
}

/* What a killed writer left goes; what may still be written stays, and so does
 * what is not clmove's. */
static void test_leftovers(void **state)
{
    struct cache_folder folder;
    const int opened = open_folder(&folder, "leftovers");
    struct cache_files files;
    char own[48];

    (void)state;
    make_file(opened, "unfinished-1-0", CACHE_STALE_SECONDS + 60);
    make_file(opened, "unfinished-1-1", CACHE_STALE_SECONDS + 60);
    make_file(opened, "unfinished-2-0", CACHE_STALE_SECONDS - 60);
    snprintf(own, sizeof(own), "unfinished-%ld-0", (long)getpid());
    make_file(opened, own, 60); /* another thread's, or of a lost process */
    make_file(opened, "letter.txt", 100000);
    make_file(opened, "0123456789abcdef.program", 100000);
    assert_true(store_bytes(opened));
    files = cache_folder_files(&folder);
    assert_int_equal(files.unfinished, 2);
    assert_int_equal(files.others, 1);
    assert_int_equal(files.entries, 2);
    assert_int_equal(faccessat(opened, own, F_OK, 0), 0);
    assert_int_equal(faccessat(opened, "unfinished-2-0", F_OK, 0), 0);
    close_folder(&folder, opened);
}

/* 64 MiB are kept; what was not used for longest goes. */
static void test_bounded(void **state)
{
    enum { SIZE = 10 << 20, ROUNDS = 9, FIT = 6 };
    struct cache_folder folder;
    const int opened = open_folder(&folder, "bounded");
    unsigned char *large = calloc(SIZE, 1);
    char source[32];

    (void)state;
    assert_non_null(large);
    /* not ours, and not counted */
    make_file(opened, "letter.txt", 100000);
    make_file(opened, "abcdefghijklmnopqrstuvwxyz012345.program", 100000);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(source, sizeof(source), "text %d", i);
        large[0] = (unsigned char)i;
        assert_true(cache_store(opened, about, source, large, SIZE));
        large[0] = 0; /* the first is used each time */
        assert_true(holds(opened, about, "text 0", large, SIZE));
    }
    assert_int_equal(cache_folder_files(&folder).entries, FIT + 1);
    assert_int_equal(cache_folder_files(&folder).others, 1);
    for (int i = 1; i < ROUNDS; i++) {
        snprintf(source, sizeof(source), "text %d", i);
        large[0] = (unsigned char)i;
        assert_int_equal(holds(opened, about, source, large, SIZE),
                         i > ROUNDS - FIT);
    }
    free(large);
    close_folder(&folder, opened);
}

/* The number that the next file opened would have. */
static int next_descriptor(int folder)
{
    const int next = dup(folder);

    assert_true(next >= 0);
    assert_int_equal(close(next), 0);
    return next;
}

/* Whatever comes of a call, it closes what it opened. */
static void test_descriptors(void **state)
{
    struct cache_folder folder;
    const int opened = open_folder(&folder, "descriptors");
    const int next = next_descriptor(opened);
    const char *path;

    (void)state;
    assert_false(holds_bytes(opened));
    assert_true(store_bytes(opened));
    assert_true(holds_bytes(opened));
    assert_int_equal(next_descriptor(opened), next);
    path = cache_folder_files(&folder).last_entry;
    assert_int_equal(truncate(path, 3), 0);
    assert_false(holds_bytes(opened));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(store_bytes(opened));
    assert_int_equal(next_descriptor(opened), next);
    close_folder(&folder, opened);
}

static void test_folders(void **state)
{
    struct cache_folder folder;
    char below[400];
    struct stat status;
    int opened = open_folder(&folder, "a b \xc3\xa4\xe2\x82\xac \"'$x\n%s");

    (void)state;
    assert_int_equal(stat(folder.path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_true(store_bytes(opened));
    assert_int_equal(close(opened), 0);
    opened = cache_open(folder.path);
    assert_true(opened >= 0);
    assert_true(holds_bytes(opened));
    close_folder(&folder, opened);

    /* only the last part is made, and a file is no folder */
    cache_folder_open(&folder, "missing");
    snprintf(below, sizeof(below), "%s/below", folder.path);
    assert_int_equal(cache_open(below), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(stat(folder.path, &status), -1);
    write_entry(folder.path, bytes, sizeof(bytes));
    assert_int_equal(cache_open(folder.path), -1);
    assert_int_equal(cache_open(below), -1);
    cache_folder_close(&folder);

    /* one that went away */
    opened = open_folder(&folder, "gone");
    assert_int_equal(rmdir(folder.path), 0);
    assert_false(store_bytes(opened));
    assert_false(holds_bytes(opened));
    close_folder(&folder, opened);
}

/* In a process of its own: a limit on file sizes acts as a full disk. */
static void test_disk_full(void **state)
{
    struct cache_folder folder;
    const int opened = open_folder(&folder, "full");
    unsigned char large[8192] = {1};
    int status = 0;
    pid_t process;

    (void)state;
    fflush(NULL);
    process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        const struct rlimit limit = {4096, 4096};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
            _exit(1);
        }
        if (cache_store(opened, about, text, large, sizeof(large))) {
            _exit(2);
        }
        _exit(errno == EFBIG ? 40 : 3);
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 40);
    assert_int_equal(cache_folder_files(&folder).entries, 0);
    assert_int_equal(cache_folder_files(&folder).unfinished, 0);
    assert_true(cache_store(opened, about, text, large, sizeof(large)));
    close_folder(&folder, opened);
}

static int read_only_child(const char *path)
{
    int folder;

    if (geteuid() == 0 && setuid(65534) != 0) { /* root may write anywhere */
        return 1;
    }
    folder = cache_open(path);
    if (folder < 0 || !holds_bytes(folder)) {
        return 2;
    }
    if (cache_store(folder, about, "other", bytes, sizeof(bytes))) {
        return 3;
    }
    return errno == EACCES ? 40 : 4;
}

/* A folder that can be read only still helps. */
static void test_read_only(void **state)
{
    struct cache_folder folder;
    const int opened = open_folder(&folder, "read only");
    int status = 0;
    pid_t process;

    (void)state;
    assert_true(store_bytes(opened));
    assert_int_equal(
        fchmodat(opened,
                 strrchr(cache_folder_files(&folder).last_entry, '/') + 1, 0444,
                 0),
        0);
    assert_int_equal(chmod(folder.path, 0555), 0);
    assert_int_equal(chmod(folder.parent, 0755), 0);
    fflush(NULL);
    process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        _exit(read_only_child(folder.path));
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 40);
    close_folder(&folder, opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_bad_sizes),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_odd_files),   cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_bounded),     cmocka_unit_test(test_folders),
        cmocka_unit_test(test_descriptors), cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
