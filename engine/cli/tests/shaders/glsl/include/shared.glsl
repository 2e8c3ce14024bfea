// A struct that two programs lay out alike.
#ifndef SHARED_GLSL
#define SHARED_GLSL

#include "config.glsl"

struct Inner {
    vec3 direction;
    float weight;
};

struct Outer {
    Inner inner[2];
    uint count;
};

#endif
