//! A million random cases for each culling decision: nothing that can be seen is ever culled. And how much more survives than
//! has to.

mod common;

use common::{Rig, camera, meshes, settings};
use glam::{DVec3, Mat3, Quat, Vec2, Vec3};
use impel::geometry::Mesh;
use impel::math::{
    Affine, Frustum, Hzb, Lens, LodMode, LodSelector, Pcg32, ScreenBox, cone_culled, mip_for_box,
    mip_size, project_sphere, unpack_cone,
};
use impel::renderer::{Culling, RasterPath};
use impel::scene::{City, Instance, Scene};
use std::sync::Arc;

const CASES: usize = 1_000_000;

fn random_lens(random: &mut Pcg32) -> Lens {
    Lens {
        fov_y: random.range(0.3, 2.2),
        aspect: random.range(0.4, 2.5),
        near: random.range(0.01, 0.5),
        ..Lens::default()
    }
}

/// A point in front of the near plane and inside of the sides, view space.
fn point_in_frustum(random: &mut Pcg32, lens: &Lens) -> Vec3 {
    let depth = lens.near + random.next_f32().powi(3) * 300.0;
    let x = random.range(-1.0, 1.0) / lens.p00() * depth;
    let y = random.range(-1.0, 1.0) / lens.p11() * depth;
    Vec3::new(x, y, -depth)
}

/// A sphere with the point in it, often just so.
fn sphere_round(random: &mut Pcg32, point: Vec3) -> (Vec3, f32) {
    let radius = 0.001 + random.next_f32().powi(3) * 20.0;
    let share = 1.0 - random.next_f32().powi(3);
    (
        point + random.unit_vector() * (radius * share * 0.99999),
        radius,
    )
}

#[test]
fn frustum_never_culls_a_sphere_with_a_point_in_it() {
    let mut random = Pcg32::new(81);
    for case in 0..CASES {
        let lens = random_lens(&mut random);
        // Pixels' centres lie half a pixel inside of the sides; take a thousandth of the picture.
        let point = point_in_frustum(&mut random, &lens) * Vec3::new(0.999, 0.999, 1.0);
        let (centre, radius) = sphere_round(&mut random, point);
        let seen = Frustum::new(&lens).sees_sphere(centre, radius);
        assert!(seen, "case {case}: {lens:?} {centre} {radius} {point}");
    }
}

#[test]
fn projected_boxes_hold_every_point() {
    let mut random = Pcg32::new(82);
    let mut tested = 0;
    while tested < CASES {
        let lens = random_lens(&mut random);
        let point = point_in_frustum(&mut random, &lens);
        let (centre, radius) = sphere_round(&mut random, point);
        let Some(found) = project_sphere(centre, radius, &lens) else {
            continue;
        };
        tested += 1;
        let clip = lens.clip(point);
        let uv = Vec2::new(clip.x / clip.w * 0.5 + 0.5, 0.5 - clip.y / clip.w * 0.5);
        // A hundredth of a pixel at 4096 pixels.
        let slack = 2.5e-6 * (1.0 + found.max.abs().max(found.min.abs()).max_element());
        let inside = uv.cmpge(found.min - slack).all() && uv.cmple(found.max + slack).all();
        assert!(inside, "{lens:?} {centre} {radius} {uv} {found:?}");
        assert!(clip.z / clip.w <= found.depth * 1.000_001);
    }
}

#[test]
fn chosen_texels_cover_every_box() {
    let mut random = Pcg32::new(83);
    for _ in 0..CASES {
        let size = [1 << (random.next_u32() % 14), 1 << (random.next_u32() % 14)];
        let low = Vec2::new(random.next_f32(), random.next_f32());
        let side = random.next_f32().powi(3);
        let extent = Vec2::new(random.next_f32(), random.next_f32()) * side;
        let high = (low + extent).min(Vec2::ONE);
        let texels = mip_size(size, mip_for_box(low, high, size)).map(|side| side as f32);
        let texels = Vec2::from_array(texels);
        let end = ((low * texels).floor() + 2.0).min(texels);
        assert!(
            (end - high * texels).min_element() >= 0.0,
            "{low} {high} {size:?}"
        );
    }
}

/// What is called hidden lies behind the depth buffer at each of its points.
#[test]
fn occlusion_never_hides_a_point_in_front() {
    let size = [97, 61];
    let mut random = Pcg32::new(84);
    let (mut tested, mut hidden) = (0, 0);
    while tested < CASES {
        // Walls of random rectangles at random depths, and sky between them.
        let mut depth = vec![0.0_f32; (size[0] * size[1]) as usize];
        for _ in 0..30 {
            let z = 1.0 / random.range(2.0, 60.0);
            let (x, y) = (random.next_u32() % size[0], random.next_u32() % size[1]);
            let (width, height) = (10 + random.next_u32() % 60, 10 + random.next_u32() % 40);
            for py in y..(y + height).min(size[1]) {
                for px in x..(x + width).min(size[0]) {
                    let texel = &mut depth[(py * size[0] + px) as usize];
                    *texel = texel.max(z);
                }
            }
        }
        let hzb = Hzb::build(&depth, size);
        let lens = Lens {
            aspect: size[0] as f32 / size[1] as f32,
            near: 1.0,
            ..Lens::default()
        };
        for _ in 0..20_000 {
            let point = point_in_frustum(&mut random, &lens);
            let (centre, radius) = sphere_round(&mut random, point);
            let Some(found) = project_sphere(centre, radius, &lens) else {
                continue;
            };
            tested += 1;
            if !hzb.occludes(&found) {
                continue;
            }
            hidden += 1;
            let clip = lens.clip(point);
            let pixel = Vec2::new(clip.x / clip.w * 0.5 + 0.5, 0.5 - clip.y / clip.w * 0.5)
                * Vec2::new(size[0] as f32, size[1] as f32);
            let pixel = pixel.floor().clamp(Vec2::ZERO, Vec2::new(96.0, 60.0));
            let there = depth[pixel.y as usize * size[0] as usize + pixel.x as usize];
            assert!(clip.z / clip.w < there, "{centre} {radius} {point} {there}");
        }
    }
    assert!(hidden > CASES / 20, "{hidden}");
}

/// Meshlets of real meshes under random affine transforms: when the cone says away, no triangle faces the camera.
#[test]
fn cones_never_cull_a_triangle_that_faces_the_camera() {
    let mut random = Pcg32::new(85);
    let meshes = meshes();
    let (mut tested, mut culled) = (0, 0);
    while tested < CASES {
        let mesh = &meshes[random.next_u32() as usize % meshes.len()];
        let rotation = Mat3::from_quat(Quat::from_axis_angle(
            random.unit_vector(),
            random.range(0.0, 6.0),
        ));
        let mut side = || random.range(0.2, 2.0) * if random.next_f32() < 0.4 { -1.0 } else { 1.0 };
        let mut linear = rotation * Mat3::from_diagonal(Vec3::new(side(), side(), side()));
        if random.next_f32() < 0.3 {
            linear.y_axis += linear.x_axis * random.range(-0.8, 0.8);
        }
        let position = random.unit_vector() * random.range(0.0, 20.0);
        let instance = Instance::new(Affine::from_mat3_translation(linear, position), 0, 0);
        let eye = position + random.unit_vector() * random.range(0.1, 30.0);
        let object_eye = instance.transform.inverse().unwrap().transform_point(eye);
        for meshlet in &mesh.meshlets {
            tested += 1;
            let (axis, cutoff) = unpack_cone(meshlet.cone);
            if cone_culled(
                meshlet.centre.into(),
                meshlet.radius,
                axis,
                cutoff,
                object_eye,
            ) {
                culled += 1;
                assert!(
                    !any_faces(mesh, meshlet, &instance, eye),
                    "{instance:?} {meshlet:?} {eye}"
                );
            }
        }
    }
    assert!(culled > CASES / 50, "{culled} of {tested}");
}

fn any_faces(
    mesh: &Mesh,
    meshlet: &impel::geometry::Meshlet,
    instance: &Instance,
    eye: Vec3,
) -> bool {
    let first = meshlet.triangle_offset as usize;
    let triangles = &mesh.meshlet_triangles[first..first + meshlet.triangle_count() as usize];
    let rows = instance.transform.rows.map(|row| row.map(f64::from));
    let corner = |local: u32| {
        let vertex = mesh.meshlet_vertices[(meshlet.vertex_offset + (local & 0xff)) as usize];
        let p = mesh
            .grid
            .decode(mesh.vertices[vertex as usize].position)
            .map(f64::from);
        DVec3::from_array(rows.map(|[x, y, z, w]| x * p[0] + y * p[1] + z * p[2] + w))
    };
    let mirrored = instance.flags & Instance::MIRRORED != 0;
    triangles.iter().any(|&packed| {
        let [a, b, c] = [corner(packed), corner(packed >> 8), corner(packed >> 16)];
        let normal = (b - a).cross(c - a);
        let side = (eye.as_dvec3() - a).dot(normal) * if mirrored { -1.0 } else { 1.0 };
        // Edge-on to a ten-thousandth of a degree covers nothing.
        side > 2e-6 * normal.length() * eye.as_dvec3().distance(a)
    })
}

#[test]
fn levels_of_detail_keep_their_error() {
    let errors = [
        0.0, 0.000_497, 0.001_106, 0.002_155, 0.004_094, 0.007_957, 0.016_634, 0.042_646,
    ];
    let mut random = Pcg32::new(86);
    for _ in 0..CASES {
        let lens = random_lens(&mut random);
        let height = 200 + random.next_u32() % 2000;
        let pixels = random.range(0.25, 4.0);
        let selector = LodSelector::new(LodMode::Error { pixels }, &lens, height);
        let (scale, distance) = (random.range(0.1, 8.0), random.next_f32().powi(3) * 900.0);
        let radius = 0.6 * scale;
        let lod = selector.select(distance * distance, radius, scale, &errors) as usize;
        let nearest = f64::from(distance - radius);
        let shown = f64::from(errors[lod]) * f64::from(scale) / nearest.max(1e-9)
            * f64::from(lens.p11())
            * 0.5
            * f64::from(height);
        assert!(
            lod == 0 || shown <= f64::from(pixels) * 1.000_1,
            "{shown} {pixels}"
        );
    }
}

/// Spheres in the city that survive the test against the pyramid, beside those that survive the same box tested against
/// every texel that it touches of the full depth buffer: instances and the meshlets that they are drawn with.
#[test]
fn survivors_in_the_city_are_few_more_than_need_be() {
    let size = [1280, 720];
    let source = "building:4200".parse::<impel::geometry::BuiltIn>().unwrap();
    let mesh_settings = impel::geometry::Settings {
        normalise_radius: Some(1.0),
        ..Default::default()
    };
    let mesh = impel::geometry::process(&source.generate().unwrap(), &mesh_settings, &|_| {});
    let mesh = Arc::new(mesh.unwrap());
    let city = City {
        instances: 20_000,
        seed: City::SEED,
    };
    let scene = Scene {
        meshes: vec![mesh.clone()],
        instances: city.generate(1),
        moving: 0,
    };
    let mut eye = camera(Vec3::new(-1.5, 1.8, 30.0), 0.0, 4.0, size);
    eye.lens.near = 0.05;
    let mut rig = Rig::new(
        scene.clone(),
        size,
        settings(Culling::NONE, RasterPath::Hybrid),
    );
    let depth = rig.shoot(&eye).depth;
    let hzb = Hzb::build(&depth, size);
    let selector = LodSelector::new(LodMode::default(), &eye.lens, size[1]);
    let errors: Vec<f32> = mesh.lods.iter().map(|lod| lod.error).collect();
    let (view, frustum) = (eye.view(), eye.frustum());
    // Instances, then meshlets: tested, survivors, and those of the exact test.
    let mut counts = [[0_u32; 3]; 2];
    let mut test = |kind: usize, centre: Vec3, radius: f32| {
        let centre = view.transform_point(centre);
        let found = project_sphere(centre, radius, &eye.lens);
        let Some(found) = found.filter(|_| frustum.sees_sphere(centre, radius)) else {
            return;
        };
        let (survives, must) = (!hzb.occludes(&found), box_shows(&depth, size, &found));
        assert!(survives || !must, "{centre} {radius} is hidden and shows");
        counts[kind][0] += 1;
        counts[kind][1] += u32::from(survives);
        counts[kind][2] += u32::from(must);
    };
    for instance in &scene.instances {
        let transform = &instance.transform;
        let centre = transform.transform_point(mesh.bounds.centre.into());
        let radius = mesh.bounds.radius * instance.scale;
        test(0, centre, radius);
        let distance_squared = centre.distance_squared(eye.position);
        let lod = selector.select(distance_squared, radius, instance.scale, &errors);
        let lod = &mesh.lods[lod as usize];
        let meshlets = lod.first_meshlet..lod.first_meshlet + lod.meshlet_count;
        for meshlet in meshlets.map(|index| &mesh.meshlets[index as usize]) {
            let centre = transform.transform_point(meshlet.centre.into());
            test(1, centre, meshlet.radius * instance.scale);
        }
    }
    for (what, [tested, ours, exact]) in ["instances", "meshlets"].into_iter().zip(counts) {
        println!("{what}: of {tested} in view {ours} survive, {exact} at full resolution");
        assert!(
            exact > 100 && tested > 3 * exact,
            "{what}: {tested} {exact}"
        );
        assert!(
            f64::from(ours) <= 1.3 * f64::from(exact),
            "{what}: {ours} {exact}"
        );
    }
}

/// Whether the box is nearer than the depth buffer at any texel that it touches.
fn box_shows(depth: &[f32], size: [u32; 2], found: &ScreenBox) -> bool {
    let extent = Vec2::new(size[0] as f32, size[1] as f32);
    let low = (found.min * extent).floor().clamp(Vec2::ZERO, extent);
    let high = (found.max * extent).ceil().clamp(Vec2::ZERO, extent);
    (low.y as u32..high.y as u32).any(|y| {
        let row = (y * size[0]) as usize;
        let texels = &depth[row + low.x as usize..row + high.x as usize];
        texels.iter().any(|&there| found.depth >= there)
    })
}
