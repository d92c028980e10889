/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/modules.h - where the command finds the library's modules, and the
 * programs that come with it.
 */
#pragma once

/* Modules are not beside the command as beside the library: it finds them in
 * the build tree, or where they were installed, which may have been moved as a
 * whole. Sets ORRERY_MODULE_DIR to the folder that has `name`.so, unless the
 * user has set it; to be called before the module may be opened, and not before
 * programs are started, which find their own. */
void tool_find_modules(const char *name);

/* A program of the library's own: in the folder `place` of the build tree, as
 * seen from this command, or where it was installed. Owned; NULL without. */
char *tool_find_program(const char *place, const char *name);

/* The same for a shared object that programs are started with. */
char *tool_find_preload(const char *name);

/* The same for a library that programs find by its file's name. */
char *tool_find_library(const char *name);

/* The same for a file to be read, installed below the data folder. */
char *tool_find_data(const char *place, const char *name);
