#version 460
layout(local_size_x_id = 5, local_size_y = 4, local_size_z_id = 6) in;
layout(local_size_x = 16, local_size_z = 2) in;
shared uint tile[gl_WorkGroupSize.x * 2];
layout(set = 0, binding = 0) buffer R { uint r; };
void main() { tile[0] = 1; r = tile[0]; }
