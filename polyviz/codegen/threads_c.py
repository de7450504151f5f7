"""What printed C says of threads before its first function."""

from __future__ import annotations

THREADS = """#ifdef _OPENMP
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
#else
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }
#endif"""
"""Declared by hand: some compilers bring OpenMP without its header."""

PIPELINE = """#include <sched.h>

/* Where a thread is: in this row of tiles, of which it has passed all before that place. */
struct progress {
    _Alignas(64) int64_t row;
    int64_t place;
};

static inline void begin_row(struct progress *own, int64_t row)
{
    __atomic_store_n(&own->place, INT64_MIN, __ATOMIC_RELAXED);
    __atomic_store_n(&own->row, row, __ATOMIC_RELEASE);
}

static inline void pass_place(struct progress *own, int64_t place)
{
    __atomic_store_n(&own->place, place + 1, __ATOMIC_RELEASE);
}

/* Returns once the row before has passed the place, and all rows before that one: they were waited for in it. */
static inline void wait_for_row_before(const struct progress *before, int64_t row, int64_t place)
{
    for (int64_t tries = 0;; tries++) {
        const int64_t found = __atomic_load_n(&before->row, __ATOMIC_ACQUIRE);
        if (found >= row)
            return;
        if (found == row - 1 && __atomic_load_n(&before->place, __ATOMIC_ACQUIRE) > place)
            return;
        if (tries > 1000)
            sched_yield();
    }
}"""
"""How the rows of a pipeline wait for each other. A thread that has gone on has finished its row: its ``row`` is stored
after the ``place`` of the new one, so whoever reads an old row never reads a place that was passed in a newer one."""
