#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(constant_id = 0) const bool a = true;
layout(constant_id = 1) const int b = -3;
layout(constant_id = 2) const uint c = 4000000000u;
layout(constant_id = 3) const float d = 0.5;
layout(constant_id = 4) const double e = 2.25LF;
layout(constant_id = 5) const int64_t f = -5000000000l;
layout(constant_id = 6) const uint16_t g = 65535us;
layout(constant_id = 9) const int never = 1;
layout(set = 0, binding = 0) buffer R { double r; };
void main() { r = a ? double(b) + double(c) + double(d) + e + double(f) + double(g) : 0.0LF; }
