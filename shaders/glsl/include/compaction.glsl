// Room in lists that workgroups fill together. Include after defining OFFSETS_BINDING, and with a block `frame`.
//
// At once, by an atomic counter: the order in the list is that of arrival. Or in order, for runs that repeat byte by byte:
// all workgroups run twice, count what they want (and write nothing else), and after `scan.comp` place it.
#ifndef COMPACTION_GLSL
#define COMPACTION_GLSL

const uint AT_ONCE = 0u;
const uint COUNT = 1u;
const uint PLACE = 2u;

layout(constant_id = 1) const uint STEP = AT_ONCE;

layout(set = 0, binding = OFFSETS_BINDING, scalar) buffer OffsetBlock { uint data[]; } offsets; // by list, then workgroup

uint in_order(uint list, uint workgroup, uint wanted) {
    uint at = list * frame.data.offset_stride + workgroup;
    if (STEP == COUNT) {
        offsets.data[at] = wanted;
        return 0u;
    }
    return offsets.data[at];
}

// By one thread of a workgroup: where its part of a list begins.
#define ALLOCATE(counter, list, workgroup, wanted) \
    (STEP != AT_ONCE ? in_order(list, workgroup, wanted) : (wanted) > 0u ? atomicAdd(counter, wanted) : 0u)

#endif
