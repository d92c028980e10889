/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/loop.c - see loop.h. */
#include "openmp/loop.h"

uint64_t openmp_count(uint64_t first, uint64_t end, uint64_t step, bool is_signed, bool up)
{
    bool any = is_signed ? up ? (int64_t)first < (int64_t)end : (int64_t)first > (int64_t)end
               : up      ? first < end
                         : first > end;
    uint64_t distance = up ? end - first : first - end;
    uint64_t stride = up ? step : -step;

    return any ? (distance - 1) / stride + 1 : 0;
}

/* Chunks as numbers. The end of the loop is as the program has written it, since what lies
 * one step behind the last number may not be one. */
static void numbers(const struct openmp_kept *kept, uint64_t begin, uint64_t end,
                    uint64_t *ret_begin, uint64_t *ret_end)
{
    *ret_begin = kept->first + begin * kept->step;
    *ret_end = end == kept->n ? kept->end : kept->first + end * kept->step;
}

static bool first_chunk(const struct openmp_kept *kept, int ordered, uint64_t *ret_begin,
                        uint64_t *ret_end)
{
    unsigned long long begin, end;

    if (!starpu_omp_for_inline_first_alt(kept->n, kept->chunk, kept->schedule, ordered,
                                         &begin, &end))
        return false;
    numbers(kept, begin, end, ret_begin, ret_end);
    return true;
}

bool openmp_loop_begin(uint64_t first, uint64_t end, uint64_t step, uint64_t n, int schedule,
                       uint64_t chunk, bool ordered, uint64_t *ret_begin, uint64_t *ret_end)
{
    struct openmp_kept *kept = openmp_kept();

    kept->first = first;
    kept->end = end;
    kept->step = step;
    kept->n = n;
    kept->schedule = schedule;
    kept->chunk = chunk;
    kept->begins = false;
    return first_chunk(kept, ordered, ret_begin, ret_end);
}

bool openmp_loop_next(uint64_t *ret_begin, uint64_t *ret_end)
{
    struct openmp_kept *kept = openmp_kept();
    unsigned long long begin, end;

    if (kept->begins) {
        kept->begins = false;
        return first_chunk(kept, kept->ordered, ret_begin, ret_end);
    }
    if (!starpu_omp_for_inline_next_alt(kept->n, kept->chunk, kept->schedule, 0, &begin, &end))
        return false;
    numbers(kept, begin, end, ret_begin, ret_end);
    return true;
}

bool openmp_loop_is_last(uint64_t end)
{
    return end == openmp_kept()->end;
}
