/* A cache folder of a test's own, and what lies in it. */

#include "cache_folder.h"

#include "testing.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void cache_folder_open(struct cache_folder *folder, const char *name)
{
    const char *temporary = getenv("TMPDIR");

    snprintf(folder->parent, sizeof(folder->parent), "%s/clmove-cache-XXXXXX",
             temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder->parent));
    snprintf(folder->path, sizeof(folder->path), "%s/%s", folder->parent, name);
}

/* Calls `visit` for each file. */
static void each_file(const struct cache_folder *folder,
                      void (*visit)(const char *name, const char *path,
                                    void *user),
                      void *user)
{
    DIR *list = opendir(folder->path);
    struct dirent *one;
    char path[600];

    while (list && (one = readdir(list)) != NULL) {
        if (strcmp(one->d_name, ".") != 0 && strcmp(one->d_name, "..") != 0) {
            snprintf(path, sizeof(path), "%s/%s", folder->path, one->d_name);
            visit(one->d_name, path, user);
        }
    }
    if (list) {
        closedir(list);
    }
}

static void remove_file(const char *name, const char *path, void *user)
{
    (void)name;
    (void)user;
    if (unlink(path) != 0) {
        rmdir(path);
    }
}

void cache_folder_close(struct cache_folder *folder)
{
    chmod(folder->path, 0700);
    each_file(folder, remove_file, NULL);
    if (rmdir(folder->path) != 0) {
        unlink(folder->path);
    }
    assert_int_equal(rmdir(folder->parent), 0);
}

static void count_file(const char *name, const char *path, void *user)
{
    struct cache_files *files = user;
    const char *dot = strrchr(name, '.');

    if (dot && strcmp(dot, ".program") == 0) {
        files->entries++;
        snprintf(files->last_entry, sizeof(files->last_entry), "%s", path);
    } else if (strncmp(name, "unfinished-", 11) == 0) {
        files->unfinished++;
    } else {
        files->others++;
    }
}

struct cache_files cache_folder_files(const struct cache_folder *folder)
{
    struct cache_files files = {0, 0, 0, ""};

    each_file(folder, count_file, &files);
    return files;
}

static void damage_file(const char *name, const char *path, void *user)
{
    const char *dot = strrchr(name, '.');
    FILE *file;
    int byte;
    long middle;

    if (!dot || strcmp(dot, ".program") != 0) {
        return;
    }
    file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    middle = ftell(file) / 2;
    assert_int_equal(fseek(file, middle, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_equal(fseek(file, middle, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
    ++*(size_t *)user;
}

size_t cache_folder_damage(const struct cache_folder *folder)
{
    size_t count = 0;

    each_file(folder, damage_file, &count);
    return count;
}
