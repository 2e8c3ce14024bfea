// What is known of a group of CULL_GROUP_SIZE instances. Twin: `impel::renderer::GroupState`.
#ifndef GROUPS_GLSL
#define GROUPS_GLSL

// One of its instances is visible: from the late phase to the next frame's early phase.
const uint GROUP_VISIBLE = 1u;
// Within a frame: it may be in the frustum; its instances are culled early; its instances are culled late.
const uint GROUP_IN_FRUSTUM = 2u;
const uint GROUP_EARLY = 4u;
const uint GROUP_LATE = 8u;

#endif
