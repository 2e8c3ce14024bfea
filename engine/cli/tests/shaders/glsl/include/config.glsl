// Constants shared with Rust. Made from config.toml by `impel bake`, which overwrites changes.

#ifndef CONFIG_GLSL
#define CONFIG_GLSL

// Threads of a group.
const uint GROUP_SIZE = 32u;

// A number with thousands.
const uint MANY = 1048576u;

// A number with a fraction.
const float SCALE = 0.125;

// A number below zero.
const int OFFSET = -3;

// Something to switch.
const bool ENABLED = true;

#endif
