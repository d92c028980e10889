/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/rapl.c - energy of the processor packages as Linux reports
 * it: Documentation/power/powercap. Zones intel-rapl:<n> are packages (AMD's
 * too) or the whole platform, which contains them; their parts,
 * intel-rapl:<n>:<m>, are not looked at. Each has energy_uj, which counts up to
 * max_energy_range_uj and begins again at 0.
 */
#include "core/device/energy.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ZONES = 64, MAX_LINE = 64 };

struct zone {
    char *path;                       /* owned: of energy_uj */
    unsigned long long before, range; /* µJ */
};

struct rapl {
    struct orr_energy_meter meter; /* first */
    unsigned nzones;
    struct zone zones[MAX_ZONES];
};

/* Reads the first line of DIR/ZONE/FILE. Errors: those of the system. */
static int rapl_read_line(const char *path, char ret[MAX_LINE])
{
    FILE *f = fopen(path, "re");
    int rc = 0;

    if (!f)
        return -errno;
    errno = 0;
    if (!fgets(ret, MAX_LINE, f))
        rc = errno ? -errno : -EIO;
    fclose(f);
    return rc;
}

static int rapl_read_number(const char *path, unsigned long long *ret)
{
    char line[MAX_LINE], *end;
    int rc = rapl_read_line(path, line);

    if (rc)
        return rc;
    errno = 0;
    *ret = strtoull(line, &end, 10);
    return errno || end == line || !isdigit((unsigned char)line[0]) ? -EIO : 0;
}

static int fail_to_read(const char *path, int code, struct orr_error *err)
{
    if (code == -EACCES || code == -EPERM)
        return orr_fail(err, -EACCES,
                        "%s is not for this user to read (Linux 5.10 and "
                        "later): run as root, or have the administrator do "
                        "`chmod a+r /sys/class/powercap/intel-rapl:*/"
                        "energy_uj`",
                        path);
    return orr_fail(err, code == -ENOMEM ? code : -EIO,
                    "%s cannot be read: %s; see whether it holds a number, and "
                    "load the kernel's module intel_rapl_msr if not",
                    path, strerror(-code));
}

/* "intel-rapl:0", but not "intel-rapl:0:1" nor "intel-rapl-mmio:0". */
static int is_zone(const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t prefix = strlen("intel-rapl:");

    return strncmp(name, "intel-rapl:", prefix) == 0 &&
           isdigit((unsigned char)name[prefix]) &&
           name[prefix + strspn(name + prefix, "0123456789")] == '\0';
}

/* The zone "psys" contains the packages: it would count them twice. */
static int is_package(const char *root, const char *zone)
{
    char path[PATH_MAX], name[MAX_LINE];

    snprintf(path, sizeof(path), "%s/%s/name", root, zone);
    return rapl_read_line(path, name) == 0 && strncmp(name, "package", 7) == 0;
}

static int add_zone(struct rapl *rapl, const char *root, const char *name,
                    struct orr_error *err)
{
    struct zone *zone = &rapl->zones[rapl->nzones];
    char path[PATH_MAX];
    int rc;

    snprintf(path, sizeof(path), "%s/%s/max_energy_range_uj", root, name);
    rc = rapl_read_number(path, &zone->range);
    if (rc)
        return fail_to_read(path, rc, err);
    snprintf(path, sizeof(path), "%s/%s/energy_uj", root, name);
    rc = rapl_read_number(path, &zone->before);
    if (rc)
        return fail_to_read(path, rc, err);
    if (zone->before > zone->range)
        return orr_fail(err, -EIO,
                        "%s is %llu, beyond the range of %llu of the zone: its "
                        "energy cannot be counted",
                        path, zone->before, zone->range);
    zone->path = strdup(path);
    if (!zone->path)
        return orr_fail(err, -ENOMEM, "no memory to measure energy");
    rapl->nzones++;
    return 0;
}

static void rapl_close(struct orr_energy_meter *meter)
{
    struct rapl *rapl = (struct rapl *)meter;

    for (unsigned i = 0; i < rapl->nzones; i++)
        free(rapl->zones[i].path);
    free(rapl);
}

static int add_zones(struct rapl *rapl, const char *root, struct orr_error *err)
{
    struct dirent **entries;
    int n = scandir(root, &entries, is_zone, alphasort), rc = 0;

    for (int i = 0; i < n; i++) {
        if (rc == 0 && rapl->nzones < MAX_ZONES &&
            is_package(root, entries[i]->d_name))
            rc = add_zone(rapl, root, entries[i]->d_name, err);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    else if (errno != ENOENT && errno != ENOTDIR)
        return orr_fail(err, -errno,
                        "%s, where the processors' energy is, cannot be "
                        "read: %s",
                        root, strerror(errno));
    if (rc == 0 && rapl->nzones == 0)
        return orr_fail(err, -ENODEV,
                        "the processors' energy cannot be measured: there is "
                        "no intel-rapl package in %s. Load the kernel's module "
                        "intel_rapl_msr (`modprobe intel_rapl_msr`); virtual "
                        "machines and containers often have no such counters, "
                        "then measure on the machine itself",
                        root);
    return rc;
}

static int rapl_open(const struct orr_energy_options *options, int device,
                     struct orr_energy_meter **ret, struct orr_error *err)
{
    struct rapl *rapl = calloc(1, sizeof(*rapl));
    int rc;

    (void)device;
    if (!rapl)
        return orr_fail(err, -ENOMEM, "no memory to measure energy");
    rapl->meter.ops = &orr_energy_rapl;
    rc = add_zones(rapl,
                   options && options->powercap ? options->powercap
                                                : "/sys/class/powercap",
                   err);
    if (rc) {
        rapl_close(&rapl->meter);
        return rc;
    }
    *ret = &rapl->meter;
    return 0;
}

static int rapl_read(struct orr_energy_meter *meter, double *ret_joules,
                     struct orr_error *err)
{
    const struct rapl *rapl = (const struct rapl *)meter;
    double sum = 0;

    for (unsigned i = 0; i < rapl->nzones; i++) {
        const struct zone *zone = &rapl->zones[i];
        unsigned long long now;
        int rc = rapl_read_number(zone->path, &now);

        if (rc)
            return fail_to_read(zone->path, rc, err);
        sum += (double)(now >= zone->before ? now - zone->before
                                            : now + zone->range - zone->before);
    }
    *ret_joules = sum / 1e6;
    return 0;
}

const struct orr_energy_ops orr_energy_rapl = {
    .open = rapl_open,
    .read = rapl_read,
    .close = rapl_close,
};
