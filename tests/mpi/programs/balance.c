/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/balance.c - data that go to faster ranks. Times are counts of data. */
#include <orrery_mpi.h>
#include <starpu_mpi_lb.h>

#include "ranks.h"

enum { EACH = 8, MOST = 64, STEPS = 40 };

static starpu_data_handle_t data[MOST];
static int value[MOST], n;

static int mine(void)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += starpu_mpi_data_get_rank(data[i]) == ranks_me;
    return count;
}

/* Rank 0 needs four times as long. */
static double elapsed(void)
{
    return 1500.0 * mine() * (ranks_me == 0 ? 4 : 1);
}

static void neighbors(int **ids, int *count)
{
    *ids = malloc(2 * sizeof(**ids));
    *count = 0;
    if (ranks_me > 0)
        (*ids)[(*count)++] = ranks_me - 1;
    if (ranks_me < ranks_n - 1)
        (*ids)[(*count)++] = ranks_me + 1;
}

static void give(starpu_data_handle_t **unit, int *count, int to)
{
    EXPECT(to == ranks_me - 1 || to == ranks_me + 1);
    *count = 0;
    for (int i = n - 1; i >= 0 && *count == 0; i--)
        if (starpu_mpi_data_get_rank(data[i]) == ranks_me) {
            *unit = malloc(sizeof(**unit));
            (*unit)[(*count)++] = data[i];
        }
}

/* All ranks have the value that rank 0 has; by messages of the library's, whose thread may
 * be in MPI. */
static void expect_same(int is)
{
    int should = is;
    starpu_data_handle_t handle = ranks_int(&should);

    for (int r = 1; r < ranks_n && ranks_me == 0; r++)
        starpu_mpi_send(handle, r, 1000, MPI_COMM_WORLD);
    if (ranks_me > 0)
        starpu_mpi_recv(handle, 0, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    starpu_data_unregister(handle);
    EXPECT_EQ(is, should);
}

/* A line of data, each of which needs the next one. */
static void line(void)
{
    struct starpu_mpi_lb_conf conf = {.get_neighbors = neighbors,
                                      .get_data_unit_to_migrate = give};
    int units[2], expected[MOST];
    long long number = 0;

    n = EACH * ranks_n;
    for (int i = 0; i < n; i++) {
        value[i] = expected[i] = i;
        data[i] = ranks_shared_int(&value[i], i, i / EACH);
    }
    orrery_mpi_lb_set_elapsed(elapsed);
    starpu_mpi_lb_init("heat", &conf);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < n; i++) {
            int next = (i + 1) % n;

            starpu_mpi_task_insert(MPI_COMM_WORLD, &ranks_add, STARPU_RW, data[i], STARPU_R,
                                   data[next], STARPU_TAG_ONLY, (starpu_tag_t)number++, 0);
            expected[i] = (int)((unsigned)expected[i] + (unsigned)expected[next]);
        }
    /* All ranks know the same owners. */
    units[0] = units[1] = 0;
    for (int i = 0; i < n; i++) {
        units[0] += starpu_mpi_data_get_rank(data[i]) == 0;
        units[1] = units[1] * 31 % 65521 + starpu_mpi_data_get_rank(data[i]);
    }
    for (int i = 0; i < 2; i++)
        expect_same(units[i]);
    EXPECT(units[0] >= 1 && units[0] <= EACH / 2);
    for (int i = 0; i < n; i++)
        if (starpu_mpi_data_get_rank(data[i]) == ranks_me)
            EXPECT_EQ(ranks_value(data[i]), expected[i]);
    starpu_mpi_lb_shutdown();
    for (int i = 0; i < n; i++)
        EXPECT_EQ(starpu_mpi_data_get_rank(data[i]), i / EACH);
    for (int i = 0; i < n; i++) {
        starpu_data_unregister(data[i]);
        if (i / EACH == ranks_me)
            EXPECT_EQ(value[i], expected[i]);
    }
    orrery_mpi_lb_set_elapsed(NULL);
}

/* Nothing begins, and nothing is moved. */
static void names(void)
{
    starpu_mpi_lb_init(NULL, NULL);
    starpu_mpi_lb_init("help", NULL);
    starpu_mpi_lb_init("nothing", NULL);
    starpu_mpi_lb_shutdown();
}

int main(int argc, char **argv)
{
    static const struct ranks_test tests[] = {{"a slow rank gives data away", line},
                                              {"names of policies", names}};

    setenv("LB_HEAT_SLEEP_THRESHOLD", "16", 1);
    return ranks_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
