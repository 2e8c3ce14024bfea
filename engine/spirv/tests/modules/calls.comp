#version 460
layout(set = 0, binding = 0) buffer A { uint x; uint y; uint z[4]; } a;
layout(set = 0, binding = 1) buffer B { uint x; uint y; } b;
layout(set = 0, binding = 2) buffer C { uint x; } c;
uint leaf(uint i) { return a.z[2] + i; }
uint middle(uint i) { return leaf(i) + b.y; }
void never() { c.x = 1; a.y = 2; }
void main() { a.x = middle(3); }
