"""The templates of C's helper functions that ask for memory and copy to it."""

from __future__ import annotations

from polyviz.codegen.helpers_c import Helper

MEMORY_HELPERS: dict[tuple[str, str], Helper] = {
    ("memory_for", ""): Helper(
        """\
static inline void *{name}(size_t size)
{
#ifdef __linux__
    /* From 32 MiB on malloc hands out new pages in every call: large ones are there several times as fast. */
    const size_t page = 2 << 20;
    if (size >= 16 * page) {
        extern int madvise(void *, size_t, int);
        void *memory = aligned_alloc(page, (size + page - 1) / page * page);
        if (memory)
            madvise(memory, size, 14);
        return memory;
    }
#endif
    return malloc(size);
}
"""
    ),
    ("kept_memory", ""): Helper(
        """\
/* Memory that a call leaves to the next, its size in front: new pages take longer to get than to fill. */
static inline void *{name}(void **kept, size_t size)
{
    size_t *front = __atomic_exchange_n(kept, NULL, __ATOMIC_ACQUIRE);
    if (!front || *front < size) {
        free(front);
        front = memory_for(size + 64);
        if (!front)
            return NULL;
        *front = size;
    }
    return (char *)front + 64;
}
""",
        uses=("memory_for",),
    ),
    ("leave_memory", ""): Helper(
        """\
static inline void {name}(void **kept, void *memory)
{
    if (!memory)
        return;
    size_t *front = (size_t *)((char *)memory - 64);
    free(*front < 32 << 20 ? __atomic_exchange_n(kept, front, __ATOMIC_ACQ_REL) : front);
}
"""
    ),
    ("take_memory", ""): Helper(
        """\
/* Memory that is kept from call to call: new pages take longer to get than to fill. One call has it at a time. */
static inline void *{name}(void **kept, size_t size)
{
    void *memory = __atomic_exchange_n(kept, NULL, __ATOMIC_ACQUIRE);
    return memory ? memory : aligned_alloc(64, size);
}
"""
    ),
    ("give_back", ""): Helper(
        """\
static inline void {name}(void **kept, void *memory)
{
    if (memory)
        free(__atomic_exchange_n(kept, memory, __ATOMIC_ACQ_REL));
}
"""
    ),
    ("even_strip", ""): Helper(
        """\
/* As many strips for each thread, of whole lines: short enough for a cache, and long enough to be read in one go. */
static inline int64_t {name}(int64_t count, int64_t threads)
{
    const int64_t longest = 2048, shortest = 64;
    const int64_t strips = threads * (1 + (count - 1) / (threads * longest));
    const int64_t length = (count + strips - 1) / strips;
    return length <= shortest ? shortest : (length + 15) / 16 * 16;
}
"""
    ),
    ("even_parts", ""): Helper(
        """\
/* How many parts of whole units, none longer than `longest`, a length is divided into: as many for each thread. */
static inline int64_t {name}(int64_t length, int64_t unit, int64_t longest, int64_t threads)
{
    const int64_t units = (length + unit - 1) / unit, most = longest / unit;
    const int64_t parts = ((units + most - 1) / most + threads - 1) / threads * threads;
    return parts < units ? parts : units;
}
"""
    ),
    ("part_start", ""): Helper(
        """\
/* Where a part begins. The longer parts come first: threads that take turns get some of both kinds. */
static inline int64_t {name}(int64_t length, int64_t unit, int64_t part, int64_t parts)
{
    const int64_t units = (length + unit - 1) / unit, longer = units % parts;
    const int64_t start = (units / parts * part + (part < longer ? part : longer)) * unit;
    return start < length ? start : length;
}
"""
    ),
    ("rows_are_far", ""): Helper(
        """\
/* Whether rows of a size in bytes are too far apart for hardware to expect the next, and more than a cache holds. */
static inline int {name}(int64_t rows, size_t size, size_t cache)
{
    return size >= 1024 && (size_t)rows * size > cache;
}
"""
    ),
    ("fetch_row", ""): Helper(
        """\
/* Asks for cache lines up to a cell, so many bytes into an array. Nothing is read, so it may as well be outside. */
static inline void {name}(const void *array, size_t cell, int lines)
{
    for (int line = 0; line < lines; line++)
        __builtin_prefetch((const void *)((uintptr_t)array + cell - 64 * line));
}
"""
    ),
    ("fetch_lines", ""): Helper(
        """\
/* Asks for the cache lines from one cell to another. */
static inline void {name}(const void *first, const void *last)
{
    for (const char *byte = first; byte < (const char *)last; byte += 64)
        __builtin_prefetch(byte);
    __builtin_prefetch(last);
}
"""
    ),
    ("whole_lines", ""): Helper(
        """\
/* The length of rows that fill cache lines, each of so many elements, but no pages: those would share cache sets. */
static inline int64_t {name}(int64_t length, int64_t line)
{
    const int64_t filled = (length + line - 1) / line * line;
    return filled % (64 * line) ? filled : filled + line;
}
"""
    ),
    ("first_line", ""): Helper(
        """\
static inline void *{name}(void *memory)
{
    return (char *)memory + (64 - (uintptr_t)memory % 64) % 64;
}
"""
    ),
    ("copy_rows", ""): Helper(
        """\
/* Copies rows of a size in bytes, which begin every so many bytes. */
static inline void {name}(
    void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t rows, int64_t size)
{
#ifdef _OPENMP
    #pragma omp parallel for schedule(static) if (rows * size > 1 << 18)
#endif
    for (int64_t row = 0; row < rows; row++)
        __builtin_memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, size);
}
"""
    ),
}
