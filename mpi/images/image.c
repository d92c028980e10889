/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/images/image.c - see image.h. */
#include "mpi/images/image.h"

#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <orrery.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/remote.h"
#include "mpi/images/refusals.h"

struct orr_image *(*orr_image_current)(void);

/* A function of atexit, on_exit or the like. */
struct orr_image_handler {
    struct orr_image_handler *next;
    void (*at_exit)(void *arg);
    void (*on_exit)(int status, void *arg);
    void *arg;
};

/* --- the end --- */

/* Of another context than main nothing can be left: the process ends. */
static _Noreturn void leave(int status, bool calls_handlers)
{
    struct orr_image *image = orr_image_current();

    if (!image || image->context != orr_self)
        exit(status);
    image->status = status;
    while (!calls_handlers && image->handlers) {
        struct orr_image_handler *handler = image->handlers;

        image->handlers = handler->next;
        free(handler);
    }
    longjmp(image->leave, 1);
}

static _Noreturn void image_exit(int status)
{
    leave(status, true);
}

static _Noreturn void image_exit_at_once(int status)
{
    leave(status, false);
}

static int add_handler(void (*at_exit)(void *), void (*on_exit)(int, void *), void *arg)
{
    struct orr_image *image = orr_image_current();
    struct orr_image_handler *handler = malloc(sizeof(*handler));

    if (!image || !handler) {
        free(handler);
        return -1;
    }
    *handler = (struct orr_image_handler){image->handlers, at_exit, on_exit, arg};
    image->handlers = handler;
    return 0;
}

static int image_cxa_atexit(void (*function)(void *), void *arg, void *object)
{
    (void)object;
    return add_handler(function, NULL, arg);
}

static int image_on_exit(void (*function)(int, void *), void *arg)
{
    return add_handler(NULL, function, arg);
}

static void call_handlers(struct orr_image *image)
{
    while (image->handlers) {
        struct orr_image_handler *handler = image->handlers;

        image->handlers = handler->next;
        if (handler->at_exit)
            handler->at_exit(handler->arg);
        else
            handler->on_exit(image->status, handler->arg);
        free(handler);
    }
}

/* --- random numbers --- */

static int image_rand(void)
{
    struct orr_image *image = orr_image_current();
    int32_t ret = 0;

    if (!image)
        return rand();
    random_r(&image->random, &ret);
    return ret;
}

static long image_random(void)
{
    return image_rand();
}

static void image_srand(unsigned seed)
{
    struct orr_image *image = orr_image_current();

    if (image)
        srandom_r(seed, &image->random);
    else
        srand(seed);
}

static struct drand48_data *drand48_of_image(void)
{
    static struct drand48_data others;
    struct orr_image *image = orr_image_current();

    return image ? &image->drand48 : &others;
}

static double image_drand48(void)
{
    double ret;

    drand48_r(drand48_of_image(), &ret);
    return ret;
}

static long image_lrand48(void)
{
    long ret;

    lrand48_r(drand48_of_image(), &ret);
    return ret;
}

static long image_mrand48(void)
{
    long ret;

    mrand48_r(drand48_of_image(), &ret);
    return ret;
}

static void image_srand48(long seed)
{
    srand48_r(seed, drand48_of_image());
}

/* --- words --- */

static char *image_strtok(char *text, const char *separators)
{
    struct orr_image *image = orr_image_current();

    return image ? strtok_r(text, separators, &image->token) : strtok(text, separators);
}

/* The library's own state is that of whoever has called last; no rank goes on between two
 * calls unless one waits there. */
static struct orr_image *begin_options(void)
{
    struct orr_image *image = orr_image_current();

    if (!image)
        return NULL;
    optind = image->parses ? *image->optind : 0;
    opterr = *image->opterr;
    image->parses = true;
    return image;
}

static int end_options(struct orr_image *image, int option)
{
    if (!image)
        return option;
    *image->optarg = optarg;
    *image->optind = optind;
    *image->optopt = optopt;
    return option;
}

static int image_getopt(int argc, char *const argv[], const char *options)
{
    struct orr_image *image = begin_options();

    return end_options(image, getopt(argc, argv, options));
}

static int image_getopt_long(int argc, char *const argv[], const char *options,
                             const struct option *longer, int *index)
{
    struct orr_image *image = begin_options();

    return end_options(image, getopt_long(argc, argv, options, longer, index));
}

static int image_getopt_long_only(int argc, char *const argv[], const char *options,
                                  const struct option *longer, int *index)
{
    struct orr_image *image = begin_options();

    return end_options(image, getopt_long_only(argc, argv, options, longer, index));
}

/* --- sleep --- */

/* In virtual time: all ranks have one thread, which nobody is to keep from going on. */
static void pass(double us)
{
    if (us > 0)
        orrery_usleep(us);
}

static double us_of(const struct timespec *time)
{
    return 1e6 * (double)time->tv_sec + 1e-3 * (double)time->tv_nsec;
}

static unsigned image_sleep(unsigned s)
{
    pass(1e6 * (double)s);
    return 0;
}

static int image_usleep(useconds_t us)
{
    pass(us);
    return 0;
}

static int image_nanosleep(const struct timespec *time, struct timespec *rest)
{
    (void)rest; /* nothing interrupts it */
    pass(us_of(time));
    return 0;
}

/* Until a date of a clock: as long as that clock says now. */
static int image_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                                 struct timespec *rest)
{
    struct timespec now = {0};

    (void)rest;
    if ((flags & TIMER_ABSTIME) && clock_gettime(clock, &now) != 0)
        return errno;
    pass(us_of(time) - us_of(&now));
    return 0;
}

/* --- what stands for what --- */

static orr_function find_own(const char *name)
{
    static const struct {
        const char *name;
        orr_function function;
    } rows[] = {
        {"exit", (orr_function)image_exit},
        {"_exit", (orr_function)image_exit_at_once},
        {"_Exit", (orr_function)image_exit_at_once},
        {"__cxa_atexit", (orr_function)image_cxa_atexit},
        {"on_exit", (orr_function)image_on_exit},
        {"rand", (orr_function)image_rand},
        {"srand", (orr_function)image_srand},
        {"random", (orr_function)image_random},
        {"srandom", (orr_function)image_srand},
        {"drand48", (orr_function)image_drand48},
        {"lrand48", (orr_function)image_lrand48},
        {"mrand48", (orr_function)image_mrand48},
        {"srand48", (orr_function)image_srand48},
        {"strtok", (orr_function)image_strtok},
        {"sleep", (orr_function)image_sleep},
        {"usleep", (orr_function)image_usleep},
        {"nanosleep", (orr_function)image_nanosleep},
        {"clock_nanosleep", (orr_function)image_clock_nanosleep},
        {"getopt", (orr_function)image_getopt},
        {"getopt_long", (orr_function)image_getopt_long},
        {"getopt_long_only", (orr_function)image_getopt_long_only},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].function;
    return NULL;
}

struct patch {
    struct orr_image *image;
    orr_finder find;
    const char *refused; /* the first one that there is no room to refuse */
};

/* Variables of MPICH's C library that its Fortran library sets for the program. */
static bool patch_variable(const struct orr_import *import, struct orr_image *image)
{
    static const char *const names[] = {"MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        void *own = &image->status_ignore[i];

        if (strcmp(import->name, names[i]) != 0)
            continue;
        memcpy(import->slot, &own, sizeof(own));
        return true;
    }
    return false;
}

static void patch_import(const struct orr_import *import, void *arg)
{
    struct patch *patch = arg;
    orr_function function = import->addend ? NULL : patch->find(import->name);

    if (import->addend || patch_variable(import, patch->image))
        return;
    if (!function)
        function = find_own(import->name);
    if (!function && orr_refusal_is_due(import->name)) {
        function = orr_refusal_of(import->name);
        if (!function)
            patch->refused = import->name;
    }
    if (function)
        memcpy(import->slot, &function, sizeof(function));
}

int orr_image_patch(struct orr_image *image, const struct link_map *object, orr_finder find,
                    struct orr_error *err)
{
    struct patch patch = {image, find, NULL};

    if (!orr_elf_set_writable(object, true))
        return orr_fail(err, -errno, "the imports of %s cannot be changed: %s",
                        object->l_name[0] ? object->l_name : "the program", strerror(errno));
    orr_elf_each_import(object, patch_import, &patch);
    (void)orr_elf_set_writable(object, false);
    if (patch.refused)
        return orr_fail(err, -E2BIG, "the program calls too many functions of MPI that "
                        "simulated ranks do not have, %s among them",
                        patch.refused);
    return 0;
}

/* --- running --- */

void orr_image_init(struct orr_image *image, const struct link_map *object, size_t main)
{
    static char **const own_optarg = &optarg;
    void *at = (void *)(object->l_addr + main);

    *image = (struct orr_image){.object = object};
    memcpy(&image->main, &at, sizeof(at));
    image->optarg = orr_elf_copied(object, "optarg");
    image->optind = orr_elf_copied(object, "optind");
    image->opterr = orr_elf_copied(object, "opterr");
    image->optopt = orr_elf_copied(object, "optopt");
    if (!image->optarg)
        image->optarg = own_optarg;
    if (!image->optind)
        image->optind = &optind;
    if (!image->opterr)
        image->opterr = &opterr;
    if (!image->optopt)
        image->optopt = &optopt;
    (void)initstate_r(1, image->random_state, sizeof(image->random_state), &image->random);
}

void orr_image_done(struct orr_image *image)
{
    free(image->copies);
    free(image->parts);
}

int orr_image_copy_variables(struct orr_image *image, const char *prefix)
{
    struct orr_elf_copy copy;

    for (size_t at = 0; orr_elf_next_copy(image->object, prefix, &at, &copy);) {
        void *shared = dlsym(RTLD_DEFAULT, copy.name);
        struct orr_image_copy *grown =
            realloc(image->copies, (image->ncopies + 1) * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        image->copies = grown;
        if (!shared || shared == copy.own)
            continue;
        memcpy(copy.own, shared, copy.size);
        grown[image->ncopies++] = (struct orr_image_copy){copy.own, shared};
    }
    return 0;
}

void *orr_image_shared(void *address)
{
    struct orr_image *image = orr_image_current ? orr_image_current() : NULL;

    for (size_t i = 0; image && i < image->ncopies; i++)
        if (image->copies[i].own == address)
            return image->copies[i].shared;
    return address;
}

void *orr_image_private(void *address)
{
    struct orr_image *image = orr_image_current ? orr_image_current() : NULL;

    for (size_t i = 0; image && i < image->ncopies; i++)
        if (image->copies[i].shared == address)
            return image->copies[i].own;
    return address;
}

/* In one block: programs write into their arguments. NULL without memory. */
static __attribute__((noinline)) char **copy_arguments(int argc, char **argv)
{
    size_t pointers = ((size_t)argc + 1) * sizeof(char *), size = pointers;
    char **copy, *at;

    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    copy = malloc(size);
    if (!copy)
        return NULL;
    at = (char *)copy + pointers;
    for (int i = 0; i < argc; i++) {
        copy[i] = at;
        at = stpcpy(at, argv[i]) + 1;
    }
    copy[argc] = NULL;
    return copy;
}

typedef void constructor(int argc, char **argv, char **environment);

static void call_constructor(const void *address, const struct orr_image *image, int argc,
                             char **environment)
{
    constructor *function;

    memcpy(&function, &address, sizeof(function));
    function(argc, image->arguments, environment);
}

static void call_constructors(const struct orr_image *image, int argc, char **environment)
{
    for (unsigned i = 0; i < image->nparts; i++) {
        const struct orr_image_part *part = &image->parts[i];
        const char *base = (const char *)part->copy->l_addr;
        const void *const *array = (const void *const *)(base + part->constructors.array);

        if (part->constructors.init)
            call_constructor(base + part->constructors.init, image, argc, environment);
        for (size_t k = 0; k < part->constructors.n; k++)
            call_constructor(array[k], image, argc, environment);
    }
}

void orr_image_run(struct orr_image *image, int argc, char **argv, char **environment)
{
    image->context = orr_self;
    image->arguments = copy_arguments(argc, argv);
    if (!image->arguments) {
        orr_log_error("no memory for the arguments of a rank");
        image->status = EXIT_FAILURE;
    } else if (setjmp(image->leave) == 0) {
        call_constructors(image, argc, environment);
        image->status = image->main(argc, image->arguments, environment);
    }
    (void)setjmp(image->leave); /* one of the functions may call exit, too */
    call_handlers(image);
    image->context = NULL;
    free(image->arguments);
}
