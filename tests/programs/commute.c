/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* commute.c - transfers between accounts in any order: tasks that write two data
 * each, with STARPU_COMMUTE alone and with an arbiter. */
#include "expect.h"

#include <starpu.h>

#define ACCOUNTS  12
#define TRANSFERS 600

static void transfer(void *buffers[], void *arg)
{
    long *from = (long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    long *to = (long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
    long amount;

    starpu_codelet_unpack_args(arg, &amount);
    *from -= amount;
    *to += amount;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "transfer"};
static struct starpu_codelet cl = {
    .cpu_funcs = {transfer},
    .cuda_funcs = {transfer},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_RW | STARPU_COMMUTE},
    .model = &model,
    .name = "transfer",
};

static void trade(int with_arbiter)
{
    long money[ACCOUNTS], right[ACCOUNTS];
    starpu_data_handle_t account[ACCOUNTS];
    starpu_arbiter_t arbiter = with_arbiter ? starpu_arbiter_create() : NULL;

    for (int i = 0; i < ACCOUNTS; i++) {
        money[i] = right[i] = 1000;
        starpu_variable_data_register(&account[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&money[i], sizeof(long));
        if (arbiter)
            starpu_data_assign_arbiter(account[i], arbiter);
    }
    for (int i = 0; i < TRANSFERS; i++) {
        int from = i * 7 % ACCOUNTS,
            to = (from + 1 + i % (ACCOUNTS - 1)) % ACCOUNTS;
        long amount = i % 13;

        right[from] -= amount;
        right[to] += amount;
        EXPECT(starpu_task_insert(&cl, STARPU_RW | STARPU_COMMUTE,
                                  account[from], STARPU_RW | STARPU_COMMUTE,
                                  account[to], STARPU_VALUE, &amount,
                                  sizeof(amount), 0) == 0);
    }
    for (int i = 0; i < ACCOUNTS; i++)
        starpu_data_unregister(account[i]);
    if (arbiter)
        starpu_arbiter_destroy(arbiter);
    for (int i = 0; i < ACCOUNTS; i++)
        EXPECT_RESULT(money[i] == right[i]);
}

int main(void)
{
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    trade(0);
    trade(1);
    starpu_shutdown();
    return 0;
}
