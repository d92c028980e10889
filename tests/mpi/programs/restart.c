/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/restart.c - a computation of some steps, with a checkpoint behind each,
 * that is killed, and goes on from the newest one. Rank 0 prints the step from which it
 * goes on, and the result.
 * usage: restart plain | crash STEP | crash-at-once STEP | resume
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <orrery_mpi.h>

#include "ranks.h"

enum { STEPS = 12, BLOCKS = 7, LENGTH = 3000 };

int ranks_me, ranks_n;

static int block[BLOCKS][LENGTH];
static int seldom = 1;
static int step, drawn; /* of each rank, not registered */
static starpu_data_handle_t blocks[BLOCKS], total;

static void mix(void *buffers[], void *arg)
{
    int *mine = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), by;
    const int *next = (const int *)STARPU_VECTOR_GET_PTR(buffers[1]);

    starpu_codelet_unpack_args(arg, &by);
    for (int i = 0; i < LENGTH; i++)
        mine[i] = (mine[i] * 31 + next[(i + by) % LENGTH] * 7 + by) % 10007;
}

static void gather(void *buffers[], void *arg)
{
    int *sum = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    const int *of = (const int *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (int i = 0; i < LENGTH; i++)
        *sum = (*sum * 13 + of[i]) % 1000003;
}

static struct starpu_codelet mix_codelet = {.name = "mix",
                                            .cpu_funcs = {mix},
                                            .nbuffers = 2,
                                            .modes = {STARPU_RW, STARPU_R}};
static struct starpu_codelet gather_codelet = {.name = "gather",
                                               .cpu_funcs = {gather},
                                               .nbuffers = 2,
                                               .modes = {STARPU_RW, STARPU_R}};

static int next_rank(int rank)
{
    return (rank + 1) % ranks_n;
}

static void register_all(void)
{
    for (int b = 0; b < BLOCKS; b++) {
        int owner = b % ranks_n;

        for (int i = 0; i < LENGTH; i++)
            block[b][i] = b * 100 + i;
        starpu_vector_data_register(&blocks[b], owner == ranks_me ? STARPU_MAIN_RAM : -1,
                                    (uintptr_t)block[b], LENGTH, sizeof(int));
        starpu_mpi_data_register(blocks[b], b, owner);
    }
    starpu_variable_data_register(&total, ranks_me == ranks_n - 1 ? STARPU_MAIN_RAM : -1,
                                  (uintptr_t)&seldom, sizeof(seldom));
    starpu_mpi_data_register(total, BLOCKS, ranks_n - 1);
}

/* Tasks of a step depend on a number that each rank draws by itself, from the last one. */
static void submit_step(void)
{
    drawn = (drawn * 5 + 3) % 97;
    for (int b = 0; b < BLOCKS; b++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &mix_codelet, STARPU_RW, blocks[b], STARPU_R,
                               blocks[(b + 1) % BLOCKS], STARPU_VALUE, &drawn,
                               sizeof(drawn), 0);
    if (step % 3 == 0)
        for (int b = 0; b < BLOCKS; b++)
            starpu_mpi_task_insert(MPI_COMM_WORLD, &gather_codelet, STARPU_RW, total,
                                   STARPU_R, blocks[b], 0);
}

/* All ranks, wherever the others are. */
static void crash(void)
{
    kill(getpid(), SIGKILL);
}

static int result(void)
{
    int sum = 0, all = 0;
    starpu_data_handle_t handle;

    if (ranks_me == ranks_n - 1) {
        starpu_data_acquire(total, STARPU_R);
        sum = *(const int *)starpu_data_get_local_ptr(total);
        starpu_data_release(total);
    }
    for (int b = ranks_me; b < BLOCKS; b += ranks_n) {
        const int *values;

        starpu_data_acquire(blocks[b], STARPU_R);
        values = starpu_data_get_local_ptr(blocks[b]);
        for (int i = 0; i < LENGTH; i++)
            sum = (sum + values[i] * (b + 1)) % 1000003;
        starpu_data_release(blocks[b]);
    }
    /* By messages of the library's: its thread may be in MPI. */
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&sum, sizeof(sum));
    if (ranks_me > 0)
        starpu_mpi_send(handle, 0, 1000, MPI_COMM_WORLD);
    for (int r = 0; r < ranks_n && ranks_me == 0; r++) {
        if (r > 0)
            starpu_mpi_recv(handle, r, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        starpu_data_acquire(handle, STARPU_R);
        all += *(const int *)starpu_data_get_local_ptr(handle);
        starpu_data_release(handle);
    }
    starpu_data_unregister(handle);
    return all;
}

static int resume(starpu_mpi_checkpoint_template_t template)
{
    int number = 0, rc = orrery_mpi_checkpoint_restore(template, &number);

    if (rc) {
        fprintf(stderr, "rank %d: orrery_mpi_checkpoint_restore: %d\n", ranks_me, rc);
        return 3;
    }
    if (number != step) {
        fprintf(stderr, "rank %d: checkpoint %d, step %d\n", ranks_me, number, step);
        return 4;
    }
    if (ranks_me == 0)
        printf("resumes at %d\n", step);
    return 0;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "plain";
    int last = argc > 2 ? atoi(argv[2]) : 0, status = 0, level, sum;
    starpu_mpi_checkpoint_template_t template;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    ranks_me = starpu_mpi_world_rank();
    ranks_n = starpu_mpi_world_size();
    register_all();
    if (starpu_mpi_checkpoint_init() != 0 ||
        starpu_mpi_checkpoint_template_create(&template, 3, 1) != 0 ||
        starpu_mpi_checkpoint_template_add_entry(
            &template, STARPU_R, total, 0, STARPU_VALUE, &step, sizeof(step),
            (starpu_mpi_tag_t)100, next_rank, STARPU_VALUE, &drawn, sizeof(drawn),
            (starpu_mpi_tag_t)101, next_rank, 0) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int b = 0; b < BLOCKS; b++)
        if (starpu_mpi_checkpoint_template_add_entry(&template, STARPU_R, blocks[b],
                                                     (b + 1) % ranks_n, 0) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    if (starpu_mpi_checkpoint_template_freeze(&template) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(way, "resume") == 0)
        status = resume(template);
    while (status == 0 && step < STEPS) {
        submit_step();
        step++;
        if (starpu_mpi_checkpoint_template_submit(template, 0) != 0)
            status = 1;
        if (strcmp(way, "crash") == 0 && step == last) {
            /* That one is complete, the steps behind it are under way. */
            starpu_mpi_wait_for_all(MPI_COMM_WORLD);
            submit_step();
            step++;
            crash();
        }
        if (strcmp(way, "crash-at-once") == 0 && step == last)
            crash();
    }
    sum = result();
    if (ranks_me == 0 && status == 0)
        printf("result %d\n", sum);
    for (int b = 0; b < BLOCKS; b++)
        starpu_data_unregister(blocks[b]);
    starpu_data_unregister(total);
    if (starpu_mpi_checkpoint_shutdown() != 0 || starpu_mpi_shutdown() != 0)
        status = 1;
    MPI_Finalize();
    return status;
}
