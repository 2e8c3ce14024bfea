// Statistics of a workgroup: summed in shared memory, then added to 64-bit counters by one atomic each.
// Include after a buffer block `counters` with a member `Counters data`.
#ifndef STATISTICS_GLSL
#define STATISTICS_GLSL

shared uint group_statistics[STATISTICS];

// Call first, by all threads, before a barrier.
void clear_statistics() {
    if (gl_LocalInvocationIndex < STATISTICS) {
        group_statistics[gl_LocalInvocationIndex] = 0u;
    }
}

void count(uint statistic, uint amount) {
    atomicAdd(group_statistics[statistic], amount);
}

// Call last, by all threads, after a barrier.
void flush_statistics() {
    uint statistic = gl_LocalInvocationIndex;
    if (statistic < STATISTICS && group_statistics[statistic] != 0u) {
        uint amount = group_statistics[statistic];
        uint before = atomicAdd(counters.data.statistics[statistic].x, amount);
        // Exactly one addition sees each wrap of the lower half.
        if (before + amount < before) {
            atomicAdd(counters.data.statistics[statistic].y, 1u);
        }
    }
}

#endif
