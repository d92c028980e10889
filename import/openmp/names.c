/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/names.c - see names.h. Compilers put the bodies of constructs into functions
 * of their own, gcc's with the name of the function they are from (main._omp_fn.0), clang's
 * with none (.omp_outlined.): these are called by file and line.
 */
#include "import/openmp/names.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/grow.h"

extern char **environ;

struct name {
    uint64_t address, base;
    char *path;     /* owned */
    bool returns, variable;
    char *function; /* owned; NULL: none has it. The symbol of a variable, too */
    uint64_t offset; /* in it */
    uint64_t bytes;  /* of it */
    char *written;   /* owned: the function as C++ writes it; NULL: not known */
    char *file;      /* owned: of the line; NULL: not known */
    unsigned long line;
    char *text; /* owned: what it is called */
};

struct omp_names {
    struct name *all;
    size_t n;
};

struct omp_names *omp_names_new(void)
{
    return calloc(1, sizeof(struct omp_names));
}

void omp_names_free(struct omp_names *names)
{
    for (size_t i = 0; names && i < names->n; i++) {
        free(names->all[i].path);
        free(names->all[i].function);
        free(names->all[i].written);
        free(names->all[i].file);
        free(names->all[i].text);
    }
    if (names)
        free(names->all);
    free(names);
}

static struct name *find(const struct omp_names *names, uint64_t address)
{
    for (size_t i = 0; i < names->n; i++)
        if (names->all[i].address == address)
            return &names->all[i];
    return NULL;
}

int omp_names_add(struct omp_names *names, uint64_t address, uint64_t base, const char *path,
                  enum omp_named kind)
{
    struct name *name;

    if (find(names, address))
        return 0;
    name = orr_array_add(names->all, names->n);
    if (!name)
        return -ENOMEM;
    *name = (struct name){.address = address,
                          .base = base,
                          .path = strdup(path),
                          .returns = kind == OMP_RETURN,
                          .variable = kind == OMP_VARIABLE};
    return name->path ? 0 : -ENOMEM;
}

/* --- symbols --- */

struct elf {
    const char *map;
    size_t size;
};

/* n elements of that size at an offset of the file; NULL: they are not in it. */
static const void *elf_at(const struct elf *elf, uint64_t offset, uint64_t n, size_t size)
{
    if (offset > elf->size || n > (elf->size - offset) / size || offset % 8)
        return NULL;
    return elf->map + offset;
}

/* The function, or the variable, of a table of symbols that has the place, if it is nearer than what the name
 * has so far. */
static int elf_search_table(const struct elf *elf, const Elf64_Shdr *table,
                            const Elf64_Shdr *strings, struct name *name)
{
    uint64_t place = name->address - name->base - name->returns;
    uint64_t n = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols = elf_at(elf, table->sh_offset, n, sizeof(*symbols));
    const Elf64_Sym *best = NULL;
    unsigned type = name->variable ? STT_OBJECT : STT_FUNC;
    const char *text;

    for (uint64_t i = 0; symbols && i < n; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == type && symbols[i].st_value <= place &&
            place - symbols[i].st_value < symbols[i].st_size &&
            (!best || symbols[i].st_value > best->st_value))
            best = &symbols[i];
    if (!best || name->function || strings->sh_offset > elf->size ||
        best->st_name >= strings->sh_size || strings->sh_size > elf->size - strings->sh_offset)
        return 0;
    text = elf->map + strings->sh_offset + best->st_name;
    name->function = strndup(text, strings->sh_size - best->st_name);
    name->offset = place + name->returns - best->st_value;
    name->bytes = best->st_size;
    return name->function ? 0 : -ENOMEM;
}

static int elf_search(const struct elf *elf, struct name *name)
{
    const Elf64_Ehdr *head = elf_at(elf, 0, 1, sizeof(*head));
    const Elf64_Shdr *sections;
    int rc = 0;

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(*sections))
        return 0;
    sections = elf_at(elf, head->e_shoff, head->e_shnum, sizeof(*sections));
    for (unsigned s = 0; !rc && sections && s < head->e_shnum; s++)
        if ((sections[s].sh_type == SHT_SYMTAB || sections[s].sh_type == SHT_DYNSYM) &&
            sections[s].sh_link < head->e_shnum)
            rc = elf_search_table(elf, &sections[s], &sections[sections[s].sh_link], name);
    return rc;
}

static int find_function(struct name *name)
{
    int fd = open(name->path, O_RDONLY | O_CLOEXEC), rc = 0;
    struct stat st;
    struct elf elf;

    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        elf.size = (size_t)st.st_size;
        elf.map = mmap(NULL, elf.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (elf.map != MAP_FAILED) {
            rc = elf_search(&elf, name);
            munmap((void *)(uintptr_t)elf.map, elf.size);
        }
    }
    close(fd);
    return rc;
}

/* --- lines --- */

/* addr2line of that file; its places come on its standard input. */
static FILE *start_addr2line(const char *path, const char *places, pid_t *ret)
{
    char program[] = "addr2line", options[] = "-aiCfe";
    char *words[] = {program, options, (char *)(uintptr_t)path, NULL};
    posix_spawn_file_actions_t actions;
    int in, ends[2], rc;

    in = memfd_create("places", MFD_CLOEXEC);
    if (in < 0)
        return NULL;
    if (write(in, places, strlen(places)) != (ssize_t)strlen(places) ||
        lseek(in, 0, SEEK_SET) < 0 || pipe2(ends, O_CLOEXEC) < 0) {
        close(in);
        return NULL;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    rc = posix_spawnp(ret, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in);
    close(ends[1]);
    if (rc) {
        close(ends[0]);
        return NULL;
    }
    return fdopen(ends[0], "r");
}

/* "/src/chol.c:17 (discriminator 3)", "??:0". Replaces what is known. */
static int take_line(struct name *name, char *text)
{
    char *colon, *slash;
    unsigned long line;

    text[strcspn(text, " \n")] = '\0';
    colon = strrchr(text, ':');
    line = colon ? strtoul(colon + 1, NULL, 10) : 0;
    if (!line)
        return 0;
    *colon = '\0';
    slash = strrchr(text, '/');
    free(name->file);
    name->file = strdup(slash ? slash + 1 : text);
    name->line = line;
    return name->file ? 0 : -ENOMEM;
}

/* "int pool::work<int>(int) [clone ._omp_fn.0]", "main", "??". */
static int take_function(struct name *name, char *text)
{
    const char *begin = text;
    int depth = 0;

    text[strcspn(text, "(\n")] = '\0';
    if (*text == '?' || !*text)
        return 0;
    for (const char *at = text; *at; at++) {
        depth += (*at == '<') - (*at == '>');
        if (*at == ' ' && depth == 0)
            begin = at + 1; /* behind the type that it returns */
    }
    free(name->written);
    name->written = strdup(begin);
    return name->written ? 0 : -ENOMEM;
}

/* The answer for a place: its address, then function and line, and those that it is inlined in.
 * The place where a task is created is told by the first; a function that the compiler has made
 * of a construct begins with what is inlined in it, and is itself the last one. `line` has the
 * address, then that of the next place. */
static int take_answer(struct name *name, FILE *lines, char **line, size_t *room)
{
    bool first = true;
    int rc = 0;

    while (!rc && getline(line, room, lines) > 0 && strncmp(*line, "0x", 2) != 0) {
        bool takes = first || !name->returns;

        if (takes)
            rc = take_function(name, *line);
        if (rc || getline(line, room, lines) <= 0)
            break;
        if (takes)
            rc = take_line(name, *line);
        first = false;
    }
    return rc;
}

static bool is_code_of(const struct name *name, const char *path)
{
    return !name->variable && !strcmp(name->path, path);
}

/* Of all names that have the path of the `first`. */
static int find_lines(struct omp_names *names, size_t first)
{
    const char *path = names->all[first].path;
    char *places = calloc(names->n - first + 1, 24), *line = NULL;
    size_t length = 0, room = 0;
    FILE *lines;
    pid_t child;
    int rc = 0;

    if (!places)
        return -ENOMEM;
    for (size_t i = first; i < names->n; i++)
        if (is_code_of(&names->all[i], path))
            length += (size_t)sprintf(places + length, "0x%llx\n",
                                      (unsigned long long)(names->all[i].address -
                                                           names->all[i].base -
                                                           names->all[i].returns));
    lines = start_addr2line(path, places, &child);
    if (lines)
        (void)!getline(&line, &room, lines); /* the first address */
    for (size_t i = first; lines && !rc && i < names->n; i++)
        if (is_code_of(&names->all[i], path))
            rc = take_answer(&names->all[i], lines, &line, &room);
    free(line);
    free(places);
    if (lines) {
        fclose(lines);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return rc;
}

static bool is_new_path(const struct omp_names *names, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (is_code_of(&names->all[j], names->all[i].path))
            return false;
    return true;
}

/* --- texts --- */

static bool is_runtime(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

    return !strncmp(file, "libomp", 6) || !strncmp(file, "libiomp", 7) ||
           !strncmp(file, "libgomp", 7);
}

/* The function that the construct is in, without what compilers add; length 0: it is not
 * told by the symbol. */
static size_t outer_length(const char *function)
{
    const char *end = strstr(function, "._omp_fn");

    if (!strncmp(function, ".omp", 4) || strstr(function, ".omp_outlined"))
        return 0;
    return end ? (size_t)(end - function) : strlen(function);
}

static int give_text(struct name *name)
{
    const char *slash = strrchr(name->path, '/');
    const char *function = !name->function                                    ? ""
                           : name->written && !strncmp(name->function, "_Z", 2) ? name->written
                                                                              : name->function;
    int outer = (int)outer_length(function), n;

    if (is_runtime(name->path))
        n = asprintf(&name->text, "taskloop");
    else if (name->line && outer)
        n = asprintf(&name->text, "%.*s:%lu", outer, function, name->line);
    else if (name->line)
        n = asprintf(&name->text, "%s:%lu", name->file, name->line);
    else if (*function && !name->returns)
        n = asprintf(&name->text, "%s", function);
    else if (*function)
        n = asprintf(&name->text, "%s+0x%llx", function, (unsigned long long)name->offset);
    else
        n = asprintf(&name->text, "%s+0x%llx", slash ? slash + 1 : name->path,
                     (unsigned long long)(name->address - name->base));
    if (n < 0)
        name->text = NULL;
    return n < 0 ? -ENOMEM : 0;
}

int omp_names_resolve(struct omp_names *names)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < names->n; i++) {
        rc = find_function(&names->all[i]);
        if (!rc && !names->all[i].variable && !is_runtime(names->all[i].path) &&
            is_new_path(names, i))
            rc = find_lines(names, i);
    }
    for (size_t i = 0; !rc && i < names->n; i++)
        rc = give_text(&names->all[i]);
    return rc;
}

const char *omp_names_find(const struct omp_names *names, uint64_t address)
{
    const struct name *name = find(names, address);

    return name ? name->text : NULL;
}

void omp_names_variable(const struct omp_names *names, uint64_t address, uint64_t *ret_begin,
                        uint64_t *ret_bytes)
{
    const struct name *name = find(names, address);

    if (!name || !name->variable)
        return;
    *ret_begin = name->address - name->offset;
    *ret_bytes = name->bytes;
}

bool omp_names_lack_lines(const struct omp_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        if (!names->all[i].variable && !names->all[i].line && !is_runtime(names->all[i].path))
            return true;
    return false;
}
