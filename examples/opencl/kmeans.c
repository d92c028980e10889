/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/kmeans.c - clusters of points: a device finds the nearest centre of each, the
 * host moves the centres. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__kernel void nearest(__global const float *points, __constant float *centres,\n"
    "                      __global int *member, int n, int nclusters, int ndims)\n"
    "{\n"
    "    int i = get_global_id(0), best = 0;\n"
    "    float least = 3.4e38f;\n"
    "    for (int c = 0; c < nclusters; c++) {\n"
    "        float sum = 0.0f;\n"
    "        for (int d = 0; d < ndims; d++) {\n"
    "            float off = points[d * n + i] - centres[c * ndims + d];\n"
    "            sum += off * off;\n"
    "        }\n"
    "        if (sum < least) { least = sum; best = c; }\n"
    "    }\n"
    "    member[i] = best;\n"
    "}\n";

enum { DIMS = 4, CLUSTERS = 5, ROUNDS = 4 };

static int nearest(const float *points, const float *centres, int n, int i)
{
    float least = INFINITY;
    int best = 0;

    for (int c = 0; c < CLUSTERS; c++) {
        float sum = 0;

        for (int d = 0; d < DIMS; d++) {
            float off = points[d * n + i] - centres[c * DIMS + d];

            sum += off * off;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    return best;
}

static void move_centres(const float *points, const int *member, float *centres, int n)
{
    float sums[CLUSTERS * DIMS] = {0};
    int counts[CLUSTERS] = {0};

    for (int i = 0; i < n; i++) {
        counts[member[i]]++;
        for (int d = 0; d < DIMS; d++)
            sums[member[i] * DIMS + d] += points[d * n + i];
    }
    for (int k = 0; k < CLUSTERS * DIMS; k++)
        if (counts[k / DIMS])
            centres[k] = sums[k] / (float)counts[k / DIMS];
}

int main(int argc, char **argv)
{
    struct setup setup;
    float *points, centres[CLUSTERS * DIMS], wanted[CLUSTERS * DIMS];
    cl_mem places, middles, members;
    cl_kernel kernel;
    const int dims = DIMS, clusters = CLUSTERS;
    unsigned state = 3;
    int n, *member, result;

    open_setup(&setup, argc, argv, 20000, source);
    n = (int)setup.size;
    points = malloc(setup.size * DIMS * sizeof(*points));
    member = calloc(setup.size, sizeof(*member));
    for (int i = 0; i < n * DIMS; i++)
        points[i] = random_number(&state);
    for (int k = 0; k < CLUSTERS * DIMS; k++)
        centres[k] = wanted[k] = points[k % DIMS * n + k / DIMS];
    places = buffer_of(&setup, setup.size * DIMS * sizeof(*points), points);
    middles = buffer_of(&setup, sizeof(centres), NULL);
    members = buffer_of(&setup, setup.size * sizeof(*member), NULL);
    kernel = kernel_of(&setup, "nearest");
    ARGUMENT(kernel, 0, places);
    ARGUMENT(kernel, 1, middles);
    ARGUMENT(kernel, 2, members);
    ARGUMENT(kernel, 3, n);
    ARGUMENT(kernel, 4, clusters);
    ARGUMENT(kernel, 5, dims);
    for (int round = 0; round < ROUNDS; round++) {
        write_to(&setup, middles, sizeof(centres), centres);
        launch(&setup, kernel, setup.size, 0, 0);
        read_back(&setup, members, setup.size * sizeof(*member), member);
        move_centres(points, member, centres, n);
    }
    for (int round = 0; setup.check && round < ROUNDS; round++) {
        for (int i = 0; i < n; i++)
            member[i] = nearest(points, wanted, n, i);
        move_centres(points, member, wanted, n);
    }
    result = compare(&setup, "kmeans", centres, wanted, CLUSTERS * DIMS, 1e-3f);
    clReleaseKernel(kernel);
    clReleaseMemObject(places);
    clReleaseMemObject(middles);
    clReleaseMemObject(members);
    close_setup(&setup);
    free(points);
    free(member);
    return result;
}
