/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/images/originals.c - see originals.h. Copies are bound as the originals are, to these:
 * then each address of one of the originals, among those that the dynamic linker has written
 * into copies, is moved to the image's copy of that. Constructors run after that.
 */
#include "mpi/images/originals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/images/copy.h"
#include "mpi/images/elf.h"

struct original {
    const struct link_map *object;
    const char *name; /* of a library; NULL: it is the executable */
    void *handle;     /* of dlopen, of a library */
    uintptr_t first, end; /* where it is */
    struct orr_copier *copier;
};

struct orr_originals {
    struct original *all; /* owned; each behind those that it needs: the executable is last */
    unsigned n;
};

/* --- which --- */

/* Of libraries with such names there is one in a process: ours, and MPI's, but for those of
 * Fortran: these have variables of a program's (MPI_IN_PLACE), and call the functions of C,
 * in whose place others stand in a copy. */
static const char *const shared[] = {"liborrery.",   "libstarpu", "libmpi.",   "libmpich.",
                                     "libmpi_cxx.",  "libmpi_java.", "libmpicxx.",
                                     "libmpichcxx.", "libopen-",  "libpmix.",  "libprrte."};
enum { NTELLING = 4 }; /* what needs one of the first is the application's */

static bool begins_with(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

static bool is_shared(const char *name)
{
    return begins_with(name, shared, sizeof(shared) / sizeof(*shared));
}

static const char *string_of(const struct link_map *object, const ElfW(Dyn) *entry)
{
    const ElfW(Dyn) *d = object->l_ld;

    while (d->d_tag != DT_STRTAB && d->d_tag != DT_NULL)
        d++;
    return d->d_tag == DT_STRTAB
               ? (const char *)orr_elf_address(object, d) + entry->d_un.d_val
               : "";
}

/* The name that it has in its file, NULL: it has none. */
static const char *name_of(const struct link_map *object)
{
    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SONAME)
            return string_of(object, d);
    return NULL;
}

static bool needs(const struct link_map *object, const char *name)
{
    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && strcmp(string_of(object, d), name) == 0)
            return true;
    return false;
}

static bool needs_us(const struct link_map *object)
{
    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && begins_with(string_of(object, d), shared, NTELLING))
            return true;
    return false;
}

static bool needs_one(const struct orr_originals *originals, const struct link_map *object)
{
    for (unsigned i = 0; i < originals->n; i++)
        if (needs(object, originals->all[i].name))
            return true;
    return false;
}

static bool has(const struct orr_originals *originals, const struct link_map *object)
{
    for (unsigned i = 0; i < originals->n; i++)
        if (originals->all[i].object == object)
            return true;
    return false;
}

static int add(struct orr_originals *originals, const struct link_map *object,
               const char *name)
{
    struct original *grown = realloc(originals->all, (originals->n + 1) * sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    originals->all = grown;
    grown += originals->n++;
    *grown = (struct original){.object = object, .name = name};
    if (name && !(grown->handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD)))
        return -ENOENT;
    orr_elf_extent(object, &grown->first, &grown->end);
    return 0;
}

/* One of the application's that is not known yet. Modules have no names: they are ours. */
static bool is_wanted(const struct orr_originals *originals, const struct link_map *object)
{
    const char *name = name_of(object);

    return object->l_name[0] && name && !is_shared(name) && !has(originals, object) &&
           (needs_us(object) || needs_one(originals, object));
}

/* Until nothing is added: each round finds those that need what the rounds before found. */
static int find_libraries(struct orr_originals *originals)
{
    unsigned before;
    int rc = 0;

    do {
        before = originals->n;
        for (const struct link_map *object = orr_elf_program(); rc == 0 && object;
             object = object->l_next)
            if (is_wanted(originals, object))
                rc = add(originals, object, name_of(object));
    } while (rc == 0 && originals->n > before);
    return rc;
}

/* Whether it needs one of those from place `from` on, but itself. */
static bool needs_later(const struct orr_originals *originals, unsigned i, unsigned from)
{
    for (unsigned k = from; k < originals->n; k++)
        if (k != i && needs(originals->all[i].object, originals->all[k].name))
            return true;
    return false;
}

/* Libraries that need each other have no order: they stay as they are. */
static void sort(struct orr_originals *originals)
{
    for (unsigned at = 0; at < originals->n; at++) {
        unsigned i = at;
        struct original first;

        while (i < originals->n && needs_later(originals, i, at))
            i++;
        if (i == originals->n)
            return;
        first = originals->all[i];
        memmove(&originals->all[at + 1], &originals->all[at], (i - at) * sizeof(first));
        originals->all[at] = first;
    }
}

int orr_originals_find(unsigned ncopies, struct orr_originals **ret, struct orr_error *err)
{
    struct orr_originals *originals = calloc(1, sizeof(*originals));
    int rc = originals ? find_libraries(originals) : -ENOMEM;

    if (rc == 0) {
        sort(originals);
        rc = add(originals, orr_elf_program(), NULL);
    }
    if (rc)
        (void)orr_fail(err, rc, "%s", rc == -ENOMEM ? "out of memory" : dlerror());
    for (unsigned i = 0; rc == 0 && i < originals->n; i++)
        rc = orr_copier_new(originals->all[i].object, ncopies, &originals->all[i].copier, err);
    if (rc && originals)
        orr_originals_free(originals);
    if (rc == 0)
        *ret = originals;
    return rc;
}

void orr_originals_free(struct orr_originals *originals)
{
    for (unsigned i = 0; i < originals->n; i++)
        if (originals->all[i].copier)
            orr_copier_free(originals->all[i].copier);
    free(originals->all);
    free(originals);
}

int orr_originals_each_import(const struct orr_originals *originals,
                              void (*visit)(const struct orr_import *import, void *arg),
                              void *arg, struct orr_error *err)
{
    for (unsigned i = 0; i < originals->n; i++) {
        const struct link_map *object = originals->all[i].object;

        if (!orr_elf_set_writable(object, true))
            return orr_fail(err, -errno, "the imports of %s cannot be changed: %s",
                            object->l_name[0] ? object->l_name : "the program",
                            strerror(errno));
        orr_elf_each_import(object, visit, arg);
        (void)orr_elf_set_writable(object, false);
    }
    return 0;
}

/* --- copies --- */

/* The image's copies, in the order of the originals. */
struct move {
    const struct orr_originals *originals;
    const struct link_map *const *copies;
};

static void move_address(const struct move *move, void **slot)
{
    uintptr_t at = (uintptr_t)*slot;

    for (unsigned i = 0; i < move->originals->n; i++) {
        const struct original *original = &move->originals->all[i];

        if (at >= original->first && at < original->end)
            *slot = (char *)*slot + (move->copies[i]->l_addr - original->object->l_addr);
    }
}

static void move_import(const struct orr_import *import, void *arg)
{
    move_address(arg, import->slot);
}

/* Whether one of the application's libraries has the variable. */
static bool is_own(const struct orr_originals *originals, const char *name)
{
    for (unsigned i = 0; i + 1 < originals->n; i++) {
        const struct original *original = &originals->all[i];
        uintptr_t at = (uintptr_t)dlsym(original->handle, name);

        if (at >= original->first && at < original->end)
            return true;
    }
    return false;
}

/* An executable has copies of variables of libraries. Of those that all ranks share the
 * libraries have made what they are, such as std::cout, in the original's: the image's is the
 * same by now. What is in them has the addresses that it had there. */
static void move_variables(const struct link_map *object, const struct original *original,
                           const struct move *move)
{
    ptrdiff_t far = (ptrdiff_t)(object->l_addr - original->object->l_addr);
    struct orr_elf_copy copy;

    for (size_t at = 0; orr_elf_next_copy(object, "", &at, &copy);) {
        if (!is_own(move->originals, copy.name))
            memcpy(copy.own, (const char *)copy.own - far, copy.size);
        for (size_t i = 0; i + sizeof(void *) <= copy.size; i += sizeof(void *))
            move_address(move, (void **)((char *)copy.own + i));
    }
}

static int bind(const struct link_map *object, const struct original *original,
                struct move *move, struct orr_error *err)
{
    if (!orr_elf_set_writable(object, true))
        return orr_fail(err, -errno, "the imports of a copy cannot be changed: %s",
                        strerror(errno));
    orr_elf_each_import(object, move_import, move);
    move_variables(object, original, move);
    (void)orr_elf_set_writable(object, false);
    return 0;
}

int orr_originals_use(const struct orr_originals *originals, size_t main, orr_finder find,
                      struct orr_image *image, struct orr_error *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < originals->n; i++)
        rc = orr_image_patch(image, originals->all[i].object, find, err);
    orr_image_init(image, originals->all[originals->n - 1].object, main);
    return rc;
}

int orr_originals_copy(struct orr_originals *originals, size_t main, orr_finder find,
                       struct orr_image *image, struct orr_error *err)
{
    unsigned n = originals->n;
    const struct link_map **copies = calloc(n, sizeof(const struct link_map *));
    struct orr_image_part *parts = calloc(n, sizeof(*parts));
    struct move move = {originals, copies};
    int rc = copies && parts ? 0 : orr_fail(err, -ENOMEM, "out of memory");

    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = orr_copier_load(originals->all[i].copier, &copies[i], err);
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = bind(copies[i], &originals->all[i], &move, err);
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = orr_image_patch(image, copies[i], find, err);
    if (rc) {
        free(copies);
        free(parts);
        return rc;
    }
    orr_image_init(image, copies[n - 1], main);
    image->parts = parts;
    for (; image->nparts < n; image->nparts++)
        parts[image->nparts] = (struct orr_image_part){
            copies[image->nparts],
            orr_elf_constructors(originals->all[image->nparts].object)};
    free(copies);
    return 0;
}
