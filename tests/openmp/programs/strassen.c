/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* strassen.c - a product of matrices by Strassen's seven products, each a task, twice nested. */
#include "program.h"

/* n × n, with rows `ld` apart. */
struct matrix {
    double *at;
    int ld;
};

static struct matrix part(struct matrix m, int n, int i, int j)
{
    return (struct matrix){m.at + (size_t)i * (size_t)(n / 2) * (size_t)m.ld + j * (n / 2), m.ld};
}

static void add(int n, struct matrix to, struct matrix a, double factor, struct matrix b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            to.at[i * to.ld + j] = a.at[i * a.ld + j] + factor * b.at[i * b.ld + j];
}

static void plain(int n, struct matrix c, struct matrix a, struct matrix b)
{
    for (int i = 0; i < n; i++) {
        memset(&c.at[i * c.ld], 0, (size_t)n * sizeof(double));
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c.at[i * c.ld + j] += a.at[i * a.ld + k] * b.at[k * b.ld + j];
    }
}

static void strassen(int n, struct matrix c, struct matrix a, struct matrix b, int depth);

/* The product of two sums of parts of a and b: factor 0 leaves the second part out. */
static void product(int n, struct matrix to, struct matrix a, double fa, struct matrix a2,
                    struct matrix b, double fb, struct matrix b2, int depth)
{
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    struct matrix x = {malloc(bytes), n}, y = {malloc(bytes), n};

    add(n, x, a, fa, a2);
    add(n, y, b, fb, b2);
    strassen(n, to, x, y, depth);
    free(x.at);
    free(y.at);
}

static void strassen(int n, struct matrix c, struct matrix a, struct matrix b, int depth)
{
    /* Which parts, by row and column, and factors: p = (a1 + fa a2) (b1 + fb b2). */
    static const struct {
        int a1, a2, b1, b2;
        double fa, fb;
    } of[7] = {{0, 3, 0, 3, 1, 1},  {2, 3, 0, 0, 1, 0},  {0, 0, 1, 3, 0, -1}, {3, 3, 2, 0, 0, -1},
               {0, 1, 3, 3, 1, 0},  {2, 0, 0, 1, -1, 1}, {1, 3, 2, 3, -1, 1}};
    int h = n / 2;
    size_t block = (size_t)h * (size_t)h;
    double *room;
    struct matrix p[7];

    if (!depth) {
        plain(n, c, a, b);
        return;
    }
    room = malloc(7 * block * sizeof(double));
    for (int i = 0; i < 7; i++) {
        p[i] = (struct matrix){room + (size_t)i * block, h};
#pragma omp task firstprivate(i)
        product(h, p[i], part(a, n, of[i].a1 / 2, of[i].a1 % 2), of[i].fa,
                part(a, n, of[i].a2 / 2, of[i].a2 % 2), part(b, n, of[i].b1 / 2, of[i].b1 % 2),
                of[i].fb, part(b, n, of[i].b2 / 2, of[i].b2 % 2), depth - 1);
    }
#pragma omp taskwait
    for (int i = 0; i < h; i++)
        for (int j = 0; j < h; j++) {
            double q[7];

            for (int k = 0; k < 7; k++)
                q[k] = p[k].at[i * h + j];
            c.at[i * c.ld + j] = q[0] + q[3] - q[4] + q[6];
            c.at[i * c.ld + j + h] = q[2] + q[4];
            c.at[(i + h) * c.ld + j] = q[1] + q[3];
            c.at[(i + h) * c.ld + j + h] = q[0] - q[1] + q[2] + q[5];
        }
    free(room);
}

int main(int argc, char **argv)
{
    int n = (int)argument(argc, argv, 1, 256);
    size_t elements = (size_t)n * (size_t)n;
    struct matrix a = {malloc(elements * 8), n}, b = {malloc(elements * 8), n};
    struct matrix c = {malloc(elements * 8), n}, d = {malloc(elements * 8), n};
    double sum = 0, right = 0;

    if (!a.at || !b.at || !c.at || !d.at || n % 4)
        return EXIT_FAILURE;
    for (size_t i = 0; i < elements; i++) {
        a.at[i] = 1 + (double)(i % 13);
        b.at[i] = 1 + (double)(i % 17);
    }
#pragma omp parallel
#pragma omp single
    strassen(n, c, a, b, 2);
    plain(n, d, a, b);
    for (size_t i = 0; i < elements; i++) {
        sum += c.at[i] * (double)(1 + i % 5);
        right += d.at[i] * (double)(1 + i % 5);
    }
    free(a.at);
    free(b.at);
    free(c.at);
    free(d.at);
    return answer("strassen", sum, right);
}
