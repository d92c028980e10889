/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hwloc.h - in the place of hwloc's header when bindings are made: the types that our
 * headers name, so that bindings are the same wherever they are made. */
#pragma once

typedef struct hwloc_bitmap_s *hwloc_cpuset_t;
typedef struct hwloc_obj *hwloc_obj_t;
typedef struct hwloc_topology *hwloc_topology_t;
typedef int hwloc_obj_type_t;
