// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tests/api/rethrow.cpp - exceptions in flight while the program waits in
// virtual time: main and four threads each rethrow their own after others have
// thrown, in a callback as well. Prints how many were right.
#include <cstdio>
#include <stdexcept>
#include <string>

#include <starpu.h>

static int right;

static void nothing(void *[], void *)
{
}

static struct starpu_codelet codelet;

static void caught_in_callback(void *)
{
    try {
        throw std::runtime_error("callback");
    } catch (const std::runtime_error &error) {
        right += std::string(error.what()) == "callback";
    }
}

static void submit()
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &codelet;
    task->callback_func = caught_in_callback;
    if (starpu_task_submit(task) != 0)
        throw std::logic_error("submit");
}

// Waits inside a handler, where tasks and other threads run meanwhile.
static void throw_twice(const std::string &name)
{
    try {
        try {
            throw std::runtime_error(name);
        } catch (...) {
            submit();
            starpu_usleep(30);
            throw;
        }
    } catch (const std::runtime_error &error) {
        right += error.what() == name;
    }
}

static void *run_thread(void *arg)
{
    for (int i = 0; i < 10; i++)
        throw_twice(static_cast<const char *>(arg) + std::to_string(i));
    return nullptr;
}

int main()
{
    static char names[4][2] = {"a", "b", "c", "d"};
    starpu_pthread_t threads[4];

    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = nothing;
    codelet.name = "k";
    if (starpu_init(nullptr) != 0)
        return 9;
    for (int i = 0; i < 4; i++)
        starpu_pthread_create(&threads[i], nullptr, run_thread, names[i]);
    for (int i = 0; i < 10; i++)
        throw_twice("main" + std::to_string(i));
    for (starpu_pthread_t thread : threads)
        starpu_pthread_join(thread, nullptr);
    starpu_task_wait_for_all();
    starpu_shutdown();
    std::printf("%d of 100 were right\n", right);
    return 0;
}
