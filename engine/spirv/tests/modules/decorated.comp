#version 460
layout(set = 0, binding = 0) buffer B { readonly uint in_value; writeonly uint out_value; };
layout(set = 0, binding = 1) readonly buffer R { uint all_readonly[]; };
layout(set = 0, binding = 2) writeonly buffer W { uint all_writeonly[]; };
layout(set = 0, binding = 3) buffer Never { uint never; };
void main() { out_value = in_value; all_writeonly[0] = all_readonly[0]; }
