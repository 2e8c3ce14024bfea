#version 460
struct Pair { uint left; uint right; };
layout(set = 0, binding = 0) readonly buffer B { uint head; Pair pair; uint tail; } b;
layout(set = 0, binding = 1) buffer R { Pair r; uint rest; } r;
void main() { Pair local = b.pair; r.r = local; }
