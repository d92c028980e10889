/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* idle.c - programs with which there is next to nothing to do: `idle none` never starts
 * the library, `empty` submits nothing, `quick` one task that takes no time; `fails`
 * ends with 5. */
#include <starpu.h>

#include <string.h>

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl = {.cpu_funcs = {nothing}, .name = "quick"};

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "quick";

    if (!strcmp(what, "none"))
        return 0;
    if (starpu_init(NULL) != 0)
        return 77;
    if (!strcmp(what, "quick") && starpu_task_insert(&cl, 0) != 0)
        return 77; /* no worker for it */
    starpu_task_wait_for_all();
    starpu_shutdown();
    return strcmp(what, "fails") ? 0 : 5;
}
