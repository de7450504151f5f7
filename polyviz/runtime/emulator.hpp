// CUDA's blocks and threads on a processor: one fiber per thread, real barriers, and a record of every access.
#undef _FORTIFY_SOURCE  // its longjmp refuses to go to another stack
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

// In C these are macros, and take no proxy of a cell for a number.
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
#define isnan(value) __builtin_isnan((double)(value))
#define isinf(value) __builtin_isinf((double)(value))
#define isfinite(value) __builtin_isfinite((double)(value))
#define signbit(value) __builtin_signbit((double)(value))

#define __global__
#define __device__
#define __shared__ static
#define __align__(bytes)
#define __launch_bounds__(...)

template <class F> struct Complex;

namespace emulator {

enum { RACE = 1, OUT_OF_BOUNDS = 2, UNINITIALISED = 3, DIVERGENT = 4 };
enum { MANY = -2, NOBODY = -1 };
const int MAXIMUM_RANK = 16, MAXIMUM_THREADS = 1024, FINDINGS = 32, WARP = 32, SEGMENT = 128, BANKS = 32;
const int REQUESTS_KEPT = 4096;  // executions of one access by one warp between two barriers that are counted
const int SLOTS = 2 * REQUESTS_KEPT;
const int PLACES = 2 * WARP;  // a lane can need two segments
const int STACK = 64 * 1024;
const int KEPT = 8;  // iterators and subscripts that a finding tells
// What is counted for the reads and for the writes of one access.
enum { REQUESTS, TRANSACTIONS, LANES, BYTES, CONFLICTS, COUNTERS };

struct Index {
    unsigned x, y, z;
};

struct Stamp {
    int32_t launch, block, interval, thread;
};

struct Cell {
    Stamp write, read;
};

struct Array {
    char *data;
    int64_t itemsize, rank, count, extents[MAXIMUM_RANK], strides[MAXIMUM_RANK];
    Cell *cells;
    size_t watched;  // bytes that cells take
};

struct Finding {
    int64_t kind, site, other, block, thread, index;
    int64_t block_at[3], thread_at[3];
    int64_t depth, instance[KEPT];  // the iterators of the statement, where it is one that accesses
    int64_t rank, subscripts[KEPT], extents[KEPT];  // of what is out of range
    int64_t other_block_at[3], other_thread_at[3];  // who else is in a race; -1 for several
};

// The lanes that make an access at one moment: in the same iteration of every loop around it; a loop that nobody tells
// the emulator about repeats the moment.
struct Request {
    uint64_t moment;
    int32_t repeat, slot, lanes, distinct;
    uint32_t present;         // lanes
    int64_t places[PLACES];   // segments; for shared memory the place of each lane
};

static Array arrays[256];
static int64_t site_count;
static int64_t *counters;                 // per site: reads, then writes
static Request **requests;                // per site and mode
static int32_t **slots;                   // where a request is by its moment, 0 for nowhere
static int32_t *used, *turn, *turn_stamp; // requests in use; repetitions by the running thread, and whose they are
static uint64_t *turn_moment;
static Finding findings[FINDINGS];
static int64_t finding_count, barrier_count, uncounted;  // uncounted: accesses of threads beyond REQUESTS_KEPT
static int64_t current_kernel;
static int32_t launch_number, current_block, current_interval, current_thread, pass;
static int64_t scrap[4];
static int64_t instance[KEPT], instance_depth;  // the statement instance whose accesses are running

static void place_of_thread(Finding &finding);
static void place_of_other(Finding &finding, const Stamp &other);

static Finding *report(int64_t kind, int64_t site, int64_t other, int64_t index)
{
    Finding *found = nullptr;
    // A divergent barrier goes first: the races that follow from it would hide it.
    bool first = kind == DIVERGENT && finding_count && findings[0].kind != DIVERGENT;
    if (first || finding_count < FINDINGS) {
        found = &findings[first ? 0 : finding_count];
        *found = Finding{kind, site, other, current_block, current_thread, index};
        place_of_thread(*found);
        found->depth = instance_depth;
        memcpy(found->instance, instance, sizeof(instance));
    }
    finding_count += !first;
    return found;
}

static void report_subscripts(int64_t site, int rank, const int64_t *subscripts, const int64_t *extents)
{
    Finding *found = report(OUT_OF_BOUNDS, site, -1, subscripts[0]);
    for (int axis = 0; found && axis < rank && axis < KEPT; axis++)
        found->rank = axis + 1, found->subscripts[axis] = subscripts[axis], found->extents[axis] = extents[axis];
}

static void note_place(Request &request, int64_t wanted)
{
    for (int known = 0; known < request.distinct; known++)
        if (request.places[known] == wanted)
            return;
    if (request.distinct < PLACES)
        request.places[request.distinct++] = wanted;
}

static int64_t segment(int64_t place) { return place / SEGMENT - (place % SEGMENT < 0); }

// The request at a moment, a new one where there is none; null where no more are counted.
static Request *request_at(int64_t row, uint64_t moment, int32_t repeat)
{
    if (!requests[row]) {
        requests[row] = (Request *)malloc(REQUESTS_KEPT * sizeof(Request));
        slots[row] = (int32_t *)calloc(SLOTS, sizeof(int32_t));
    }
    uint64_t mixed = (moment + (uint64_t)repeat) * 0x9e3779b97f4a7c15ull;
    int32_t slot = (int32_t)(mixed >> 32) & (SLOTS - 1);
    for (; slots[row][slot]; slot = (slot + 1) & (SLOTS - 1)) {
        Request &known = requests[row][slots[row][slot] - 1];
        if (known.moment == moment && known.repeat == repeat)
            return &known;
    }
    if (used[row] == REQUESTS_KEPT)
        return nullptr;
    requests[row][used[row]] = Request{moment, repeat, slot, 0, 0, 0, {0}};
    slots[row][slot] = ++used[row];
    return &requests[row][used[row] - 1];
}

static void count_access(int64_t site, bool write, int64_t place, bool shared, int64_t bytes, uint64_t moment)
{
    const int64_t row = 2 * site + write;
    const int lane = current_thread % WARP;
    const bool again = turn_stamp[row] == pass && turn_moment[row] == moment;
    turn_stamp[row] = pass, turn_moment[row] = moment;
    turn[row] = again ? turn[row] + 1 : 0;
    Request *request = request_at(row, moment, turn[row]);
    while (request && request->present >> lane & 1)
        request = request_at(row, moment, ++turn[row]);
    if (!request) {
        uncounted++;
        return;
    }
    request->lanes++;
    request->present |= 1u << lane;
    if (shared)
        request->places[lane] = place;
    else
        for (int64_t one = segment(place); one <= segment(place + bytes - 1); one++)
            note_place(*request, one);
}

// Whether lane \p one is the first of lanes from \p begin on that reads its word.
static bool is_first(const Request &request, int begin, int one, int64_t word)
{
    for (int other = begin; other < one; other++)
        if (request.present >> other & 1 && request.places[other] / word == request.places[one] / word)
            return false;
    return true;
}

// The words of one request that fall into the same bank, beyond the first; long words go by parts of a warp.
static int64_t conflicts(const Request &request, int64_t itemsize)
{
    int64_t word = itemsize < 4 ? 4 : itemsize, parts = word / 4, total = 0;
    int lanes = WARP / parts > 0 ? WARP / parts : 1;
    for (int begin = 0; begin < WARP; begin += lanes) {
        int words[BANKS] = {0}, most = 1;
        for (int one = begin; one < begin + lanes; one++) {
            if (!(request.present >> one & 1) || !is_first(request, begin, one, word))
                continue;
            int &here = words[request.places[one] / 4 % BANKS];
            most = ++here > most ? here : most;
        }
        total += most - 1;
    }
    return total;
}

static int64_t *site_itemsize, *site_shared;

static void end_of_warp()
{
    for (int64_t row = 0; row < 2 * site_count; row++) {
        int64_t *counter = counters + row * COUNTERS, size = site_itemsize[row / 2];
        for (int number = 0; number < used[row]; number++) {
            const Request &request = requests[row][number];
            slots[row][request.slot] = 0;
            counter[REQUESTS]++;
            counter[LANES] += request.lanes;
            counter[BYTES] += request.lanes * size;
            if (site_shared[row / 2])
                counter[CONFLICTS] += conflicts(request, size);
            else
                counter[TRANSACTIONS] += request.distinct;
        }
        used[row] = 0;
    }
}

static bool at_the_same_time(const Stamp &other, bool shared)
{
    // Every block has a shared memory of its own.
    if (other.launch != launch_number || (shared && other.block != current_block))
        return false;
    return other.block != current_block ||
           (other.interval == current_interval && other.thread != current_thread);
}

static void stamp_read(Stamp &read, bool shared)
{
    if (!shared && read.launch == launch_number && read.block != current_block) {
        read.block = MANY;
        return;
    }
    bool same = read.launch == launch_number && read.block == current_block && read.interval == current_interval;
    int32_t thread = same && read.thread != current_thread ? (int32_t)MANY : current_thread;
    read = Stamp{launch_number, current_block, current_interval, thread};
}

static void watch(Cell &cell, bool write, bool shared, int64_t site, int64_t index)
{
    const bool meets_write = at_the_same_time(cell.write, shared);
    if (meets_write || (write && at_the_same_time(cell.read, shared))) {
        Finding *found = report(RACE, site, -1, index);
        if (found)
            place_of_other(*found, meets_write ? cell.write : cell.read);
    }
    if (write)
        cell.write = Stamp{launch_number, current_block, current_interval, current_thread};
    else
        stamp_read(cell.read, shared);
}

template <class T, int SITE> struct Reference {
    T *address;
    Cell *cell;
    int64_t place, index, room;  // cells to the end of the row
    bool shared, outside = false;
    uint64_t moment = 0;

    void note(bool write, int cells = 1) const
    {
        if (!cell)
            return;
        site_itemsize[SITE] = cells * sizeof(T);
        site_shared[SITE] = shared;
        count_access(SITE, write, place, shared, cells * sizeof(T), moment);
        for (int number = 0; number < cells; number++) {
            const Stamp &written = cell[number].write;
            if (shared && !write && (written.launch != launch_number || written.block != current_block))
                report(UNINITIALISED, SITE, -1, index + number);
            watch(cell[number], write, shared, SITE, index + number);
        }
    }
    Reference operator&() const { return *this; }
    // The statement instance that makes the access; it comes last, since an access out of range was told before.
    template <class... Iterators> Reference of(Iterators... iterators) const
    {
        const int64_t values[] = {(int64_t)iterators..., 0};
        instance_depth = sizeof...(Iterators) < KEPT ? (int)sizeof...(Iterators) : KEPT;
        for (int place = 0; place < instance_depth; place++)
            instance[place] = values[place];
        if (outside && finding_count <= FINDINGS && findings[finding_count - 1].site == SITE) {
            findings[finding_count - 1].depth = instance_depth;
            memcpy(findings[finding_count - 1].instance, instance, sizeof(instance));
        }
        return *this;
    }
    // The iterations of the loops around the access.
    template <class... Turns> Reference when(Turns... turns) const
    {
        Reference told = *this;
        const uint64_t values[] = {(uint64_t)(int64_t)turns...};
        for (uint64_t turn : values)
            told.moment = (told.moment ^ turn) * 0xff51afd7ed558ccdull, told.moment ^= told.moment >> 32;
        return told;
    }
    operator T() const
    {
        note(false);
        return *address;
    }
    // A real number where a complex one is asked for.
    template <class F> operator Complex<F>() const
    {
        note(false);
        return Complex<F>(*address);
    }
    T operator=(T value) const
    {
        note(true);
        return *address = value;
    }
    T operator=(const Reference &other) const { return *this = (T)other; }
    template <class U> T operator+=(U value) const { return *this = (T)((T)*this + value); }
    template <class U> T operator-=(U value) const { return *this = (T)((T)*this - value); }
    template <class U> T operator*=(U value) const { return *this = (T)((T)*this * value); }
    template <class U> T operator/=(U value) const { return *this = (T)((T)*this / value); }
    template <class U> T operator&=(U value) const { return *this = (T)((T)*this & value); }
    template <class U> T operator|=(U value) const { return *this = (T)((T)*this | value); }
    template <class U> T operator^=(U value) const { return *this = (T)((T)*this ^ value); }
};

// Each reference is read as what it holds before the compiler looks for an operator: it could become a complex number
// of either precision, and no operator would be the best.
#define OPERATOR_OF_VALUES(SIGN)                                                                                       \
    template <class T, int A, class U, int B>                                                                          \
    inline auto operator SIGN(const Reference<T, A> &left, const Reference<U, B> &right)                               \
    {                                                                                                                  \
        return (T)left SIGN(U) right;                                                                                  \
    }                                                                                                                  \
    template <class T, int A, class U> inline auto operator SIGN(const Reference<T, A> &left, const U &right)          \
    {                                                                                                                  \
        return (T)left SIGN right;                                                                                     \
    }                                                                                                                  \
    template <class T, class U, int B> inline auto operator SIGN(const T &left, const Reference<U, B> &right)          \
    {                                                                                                                  \
        return left SIGN(U) right;                                                                                     \
    }
OPERATOR_OF_VALUES(+)
OPERATOR_OF_VALUES(-)
OPERATOR_OF_VALUES(==)
OPERATOR_OF_VALUES(!=)
template <class T, int SITE> inline auto operator-(const Reference<T, SITE> &value) { return -(T)value; }

// A copy that was begun and whose thread has not waited for it yet.
struct Copy {
    void (*finish)(const Copy &);
    char *address;
    Cell *cell;
    int64_t place, index, bytes;
    uint64_t moment;
    char values[16];
};

struct Fiber {
    Copy *copies;
    int copy_count, copy_capacity;
    ucontext_t context;
    jmp_buf place;
    char *stack;
    bool started, waiting, finished;
    int barrier;
    Index thread;
};

static Fiber *fibers;
static int fiber_capacity;
static jmp_buf scheduler;
static Fiber *running;
static void (*body)(void *);
static void *body_argument;

static uint64_t random_state;
static uint64_t next_random()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void shuffle(int *order, int count)
{
    for (int last = count - 1; last > 0; last--) {
        int other = next_random() % (last + 1), kept = order[last];
        order[last] = order[other];
        order[other] = kept;
    }
}

}  // namespace emulator

static emulator::Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

static void place_of_thread(Finding &finding)
{
    const Index all[] = {blockIdx, threadIdx};
    int64_t *to[] = {finding.block_at, finding.thread_at};
    for (int which = 0; which < 2; which++)
        to[which][0] = all[which].x, to[which][1] = all[which].y, to[which][2] = all[which].z;
}

static void place(int64_t *to, int64_t number, const Index &size)
{
    const int64_t at[] = {number % size.x, number / size.x % size.y, number / size.x / size.y};
    for (int axis = 0; axis < 3; axis++)
        to[axis] = number < 0 ? -1 : at[axis];
}

static void place_of_other(Finding &finding, const Stamp &other)
{
    place(finding.other_block_at, other.block, gridDim);
    place(finding.other_thread_at, other.thread, blockDim);
}

static void enter(Fiber *fiber)
{
    running = fiber;
    threadIdx = fiber->thread;
    pass++;
}

// A context is entered once; after that jumps are enough, which need no call of the system.
__attribute__((noinline)) static void resume(Fiber *fiber)
{
    if (_setjmp(scheduler))
        return;
    if (fiber->started)
        _longjmp(fiber->place, 1);
    fiber->started = true;
    setcontext(&fiber->context);
}

__attribute__((noinline)) static void suspend()
{
    if (!_setjmp(running->place))
        _longjmp(scheduler, 1);
}

static void wait_at(int line)
{
    running->waiting = true;
    running->barrier = line;
    suspend();
}

static void fiber_main()
{
    for (;;) {
        body(body_argument);
        running->finished = true;
        suspend();
    }
}

static void reserve_fibers(int count)
{
    if (count <= fiber_capacity)
        return;
    // Never moved: a fiber's context points into itself.
    if (!fibers)
        fibers = (Fiber *)calloc(MAXIMUM_THREADS, sizeof(Fiber));
    for (int number = fiber_capacity; number < count; number++) {
        Fiber *fiber = &fibers[number];
        fiber->stack = (char *)malloc(STACK);
        getcontext(&fiber->context);
        fiber->context.uc_stack.ss_sp = fiber->stack;
        fiber->context.uc_stack.ss_size = STACK;
        makecontext(&fiber->context, fiber_main, 0);
    }
    fiber_capacity = count;
}

static void run_pass(const int *warps, int warp_count, int count, bool with_barriers)
{
    int lanes[WARP];
    for (int place = 0; place < warp_count; place++) {
        int first = warps[place] * WARP, size = count - first < WARP ? count - first : WARP;
        for (int lane = 0; lane < size; lane++)
            lanes[lane] = first + lane;
        shuffle(lanes, size);
        for (int lane = 0; lane < size; lane++) {
            Fiber *fiber = &fibers[lanes[lane]];
            if (fiber->finished)
                continue;
            fiber->waiting = false;
            current_thread = lanes[lane];
            enter(fiber);
            if (with_barriers) {
                resume(fiber);
            } else {
                body(body_argument);
                fiber->finished = true;
            }
        }
        end_of_warp();
    }
}

// Whether some threads wait; those that do must be all threads of the block, at the same barrier.
static bool check_barrier(int count)
{
    int waiting = 0, line = 0;
    bool same = true;
    for (int number = 0; number < count; number++) {
        if (!fibers[number].waiting || fibers[number].finished)
            continue;
        same = same && (!waiting || fibers[number].barrier == line);
        line = fibers[number].barrier;
        waiting++;
    }
    if (waiting && (!same || waiting < count))
        report(DIVERGENT, current_kernel, waiting, line);
    if (waiting)
        barrier_count++;
    return waiting > 0;
}

static void run_block(bool with_barriers)
{
    int count = blockDim.x * blockDim.y * blockDim.z, warp_count = (count + WARP - 1) / WARP;
    int warps[64];
    for (int warp = 0; warp < warp_count; warp++)
        warps[warp] = warp;
    for (int number = 0; number < count; number++) {
        Fiber *fiber = &fibers[number];
        fiber->waiting = fiber->finished = false;
        fiber->copy_count = 0;
        unsigned index = number;
        fiber->thread = Index{index % blockDim.x, index / blockDim.x % blockDim.y, index / blockDim.x / blockDim.y};
    }
    current_interval = 0;
    do {
        shuffle(warps, warp_count);
        run_pass(warps, warp_count, count, with_barriers);
        current_interval++;
    } while (check_barrier(count));
}

static Copy &begin_copy()
{
    if (running->copy_count == running->copy_capacity) {
        running->copy_capacity = 2 * running->copy_capacity + 16;
        running->copies = (Copy *)realloc(running->copies, running->copy_capacity * sizeof(Copy));
    }
    return running->copies[running->copy_count++];
}

template <class T, int SITE, int CELLS> static void finish_copy(const Copy &copy)
{
    Reference<T, SITE>{(T *)copy.address, copy.cell, copy.place, copy.index, CELLS, true, false, copy.moment}.note(
        true, CELLS);
    memcpy(copy.address, copy.values, copy.bytes);
}

template <int CELLS, class T, int INTO, class U, int FROM>
static void copy_later(const Reference<T, INTO> &into, const Reference<U, FROM> &from)
{
    static_assert(sizeof(T) == sizeof(U) && CELLS * sizeof(T) <= 16, "a copy moves at most 16 bytes");
    if (into.room < CELLS)
        report(OUT_OF_BOUNDS, INTO, -1, into.index);
    if (from.room < CELLS)
        report(OUT_OF_BOUNDS, FROM, -1, from.index);
    if (into.room < CELLS || from.room < CELLS)
        return;
    from.note(false, CELLS);
    Copy &copy = begin_copy();
    copy = Copy{finish_copy<T, INTO, CELLS>, (char *)into.address, into.cell, into.place, into.index, CELLS * sizeof(T),
                into.moment, {0}};
    memcpy(copy.values, from.address, copy.bytes);
}

template <int CELLS, class T, int FROM> static void take(T *to, const Reference<T, FROM> &from)
{
    if (from.room < CELLS)
        return (void)report(OUT_OF_BOUNDS, FROM, -1, from.index);
    from.note(false, CELLS);
    memcpy(to, from.address, CELLS * sizeof(T));
}

template <class Body> static void call(void *argument) { (*(Body *)argument)(); }

template <class Body>
static int64_t launch(
    int64_t number_of_kernel, const int64_t *grid, const int64_t *block, int64_t seed, int64_t barriers, Body kernel)
{
    current_kernel = number_of_kernel;
    gridDim = Index{(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]};
    blockDim = Index{(unsigned)block[0], (unsigned)block[1], (unsigned)block[2]};
    random_state = 0x9e3779b97f4a7c15ull ^ (uint64_t)seed * 0xbf58476d1ce4e5b9ull;
    body = call<Body>;
    body_argument = &kernel;
    reserve_fibers(block[0] * block[1] * block[2]);
    launch_number++;
    int64_t count = grid[0] * grid[1] * grid[2], start = count ? (int64_t)(next_random() % (uint64_t)count) : 0;
    for (int64_t number = 0; number < count; number++) {
        int64_t place = (start + number) % count;
        blockIdx = Index{(unsigned)(place % grid[0]), (unsigned)(place / grid[0] % grid[1]),
                         (unsigned)(place / grid[0] / grid[1])};
        current_block = (int32_t)place;
        run_block(barriers);
    }
    return 0;
}

template <class T> static T slot(const int64_t &bits)
{
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace emulator

using emulator::launch;
using emulator::slot;

#define __syncthreads() emulator::wait_at(__LINE__)

template <class T> struct Global {
    emulator::Array *array;

    explicit Global(int number) : array(&emulator::arrays[number]) {}
    T *raw() const { return (T *)array->data; }

    template <int SITE, class... Subscripts> emulator::Reference<T, SITE> at(Subscripts... subscripts) const
    {
        const int64_t values[] = {(int64_t)subscripts..., 0};
        int64_t index = 0, offset = 0;
        emulator::instance_depth = 0;
        bool inside = true;
        for (int axis = 0; axis < (int)sizeof...(Subscripts); axis++) {
            inside = inside && values[axis] >= 0 && values[axis] < array->extents[axis];
            index = index * array->extents[axis] + values[axis];
            offset += values[axis] * array->strides[axis];
        }
        if (!inside) {
            emulator::report_subscripts(SITE, sizeof...(Subscripts), values, array->extents);
            return {(T *)emulator::scrap, nullptr, 0, 0, 0, false, true};
        }
        const int last = (int)sizeof...(Subscripts) - 1;
        const int64_t room = last < 0 ? 1 : array->extents[last] - values[last];
        return {(T *)array->data + offset, &array->cells[index], offset * (int64_t)sizeof(T), index, room, false};
    }
};

template <class T, int... EXTENTS> struct Shared {
    static constexpr int extents[] = {EXTENTS..., 1};
    static constexpr int count = (EXTENTS * ... * 1);
    T values[count];
    emulator::Cell cells[count];

    template <int SITE, class... Subscripts> emulator::Reference<T, SITE> at(Subscripts... subscripts)
    {
        const int64_t places[] = {(int64_t)subscripts..., 0};
        int64_t index = 0;
        emulator::instance_depth = 0;
        bool inside = true;
        for (int axis = 0; axis < (int)sizeof...(Subscripts); axis++) {
            inside = inside && places[axis] >= 0 && places[axis] < extents[axis];
            index = index * extents[axis] + places[axis];
        }
        if (!inside) {
            const int64_t wide[] = {EXTENTS..., 1};
            emulator::report_subscripts(SITE, sizeof...(Subscripts), places, wide);
            return {(T *)emulator::scrap, nullptr, 0, 0, 0, true, true};
        }
        const int last = (int)sizeof...(Subscripts) - 1;
        return {&values[index], &cells[index], index * (int64_t)sizeof(T), index, extents[last] - places[last], true};
    }
};

// What the kernels call beside their accesses.
template <int CELLS = 1, class Into, class From> static void copy_later(const Into &into, const From &from)
{
    emulator::copy_later<CELLS>(into, from);
}

template <int CELLS, class T, class From> static void take(T *to, const From &from) { emulator::take<CELLS>(to, from); }

static void wait_for_copies()
{
    emulator::Fiber *fiber = emulator::running;
    for (int number = 0; number < fiber->copy_count; number++)
        fiber->copies[number].finish(fiber->copies[number]);
    fiber->copy_count = 0;
}

template <class T> static bool is_aligned(const Global<T> &array)
{
    return (uint64_t)array.array->data % 16 == 0 && array.array->strides[array.array->rank - 1] == 1;
}

extern "C" int64_t emulator_start(int64_t sites)
{
    using namespace emulator;
    free(counters), free(used), free(turn), free(turn_stamp), free(turn_moment), free(site_itemsize), free(site_shared);
    for (int64_t row = 0; row < 2 * site_count; row++)
        free(requests[row]), free(slots[row]);
    free(requests), free(slots);
    site_count = sites;
    counters = (int64_t *)calloc(2 * sites * COUNTERS + 1, sizeof(int64_t));
    requests = (Request **)calloc(2 * sites + 1, sizeof(Request *));
    slots = (int32_t **)calloc(2 * sites + 1, sizeof(int32_t *));
    turn_moment = (uint64_t *)calloc(2 * sites + 1, sizeof(uint64_t));
    used = (int32_t *)calloc(2 * sites + 1, sizeof(int32_t));
    turn = (int32_t *)calloc(2 * sites + 1, sizeof(int32_t));
    turn_stamp = (int32_t *)calloc(2 * sites + 1, sizeof(int32_t));
    site_itemsize = (int64_t *)calloc(sites + 1, sizeof(int64_t));
    site_shared = (int64_t *)calloc(sites + 1, sizeof(int64_t));
    finding_count = barrier_count = uncounted = 0;
    pass = 0;
    return counters && requests && slots && turn_moment && used && turn && turn_stamp && site_itemsize && site_shared ? 0 : 1;
}

extern "C" int64_t emulator_array(
    int64_t number, char *data, int64_t itemsize, int64_t rank, const int64_t *extents, const int64_t *strides)
{
    using namespace emulator;
    Array &array = arrays[number];
    array.data = data, array.itemsize = itemsize, array.rank = rank, array.count = 1;
    for (int axis = 0; axis < rank; axis++) {
        array.extents[axis] = extents[axis], array.strides[axis] = strides[axis];
        array.count *= extents[axis];
    }
    // Pages come as they are touched: of an array far larger than the memory, a kernel may use a corner.
    array.watched = (array.count + 1) * sizeof(Cell);
    void *cells = mmap(
        nullptr, array.watched, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    array.cells = cells == MAP_FAILED ? nullptr : (Cell *)cells;
    return array.cells ? 0 : 1;
}

extern "C" int64_t emulator_finish(int64_t arrays_in_use)
{
    for (int64_t number = 0; number < arrays_in_use; number++) {
        emulator::Array &array = emulator::arrays[number];
        if (array.cells)
            munmap(array.cells, array.watched);
        array.cells = nullptr;
    }
    return 0;
}

extern "C" int64_t emulator_counts(int64_t *out)
{
    using namespace emulator;
    memcpy(out, counters, 2 * site_count * COUNTERS * sizeof(int64_t));
    out[2 * site_count * COUNTERS] = barrier_count;
    out[2 * site_count * COUNTERS + 1] = uncounted;
    return 0;
}

extern "C" int64_t emulator_findings(int64_t *out)
{
    using namespace emulator;
    int64_t kept = finding_count < FINDINGS ? finding_count : FINDINGS;
    memcpy(out, findings, kept * sizeof(Finding));
    return kept;
}
