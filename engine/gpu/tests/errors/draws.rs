//! Draws, dispatches, indirect arguments.

use crate::common::{color, compute, expect_error, graphics, noop, noop_with, storage};
use crate::programs::{self, fill, payload, plain, touch_mesh};
use impel_gpu::noop::NoopDesc;
use impel_gpu::{BufferDesc, GpuDesc, Load};

#[test]
fn draws_fit_the_stages_of_the_pipeline() {
    let gpu = noop();
    let (vertex, mesh) = (
        graphics(&gpu, "vertex", plain::SHADERS),
        graphics(&gpu, "mesh", touch_mesh::SHADERS),
    );
    let (target, buffer) = (color(&gpu, "target"), storage(&gpu, "buffer", 64));
    let bind = [buffer.range(0, 16), buffer.range(16, 16)];
    let arguments = storage(&gpu, "arguments", 64);
    let mut frame = gpu.begin_frame().unwrap();
    macro_rules! vertices {
        () => {
            frame
                .graphics("pass", &vertex)
                .color(&target, Load::DontCare)
        };
    }
    let no_mesh = &["mesh tasks were drawn with a pipeline that has no mesh shader"];
    expect_error(vertices!().draw_mesh_tasks([1, 1, 1]), no_mesh);
    expect_error(
        vertices!().draw_mesh_tasks_indirect(&arguments, 0, 1, 12),
        no_mesh,
    );
    expect_error(
        vertices!().draw_mesh_tasks_indirect_count(&arguments, 0, &arguments, 32, 1, 12),
        no_mesh,
    );
    vertices!().draw(0, 0).unwrap();
    macro_rules! meshes {
        () => {
            frame
                .graphics("pass", &mesh)
                .bind(bind)
                .color(&target, Load::DontCare)
        };
    }
    let no_vertex = &["vertices were drawn with a pipeline that has no vertex shader"];
    expect_error(meshes!().draw(3, 1), no_vertex);
    expect_error(meshes!().draw_indirect(&arguments, 0, 1, 16), no_vertex);
    expect_error(
        meshes!().draw_indirect_count(&arguments, 0, &arguments, 32, 1, 16),
        no_vertex,
    );
    meshes!().draw_mesh_tasks([0, 1, 1]).unwrap();
}

#[test]
fn indirect_arguments_are_checked() {
    let gpu = noop_with(
        NoopDesc::with(|device| device.limits.max_draw_indirect_count = 100),
        &GpuDesc::default(),
    );
    let (vertex, mesh) = (
        graphics(&gpu, "vertex", plain::SHADERS),
        graphics(&gpu, "mesh", touch_mesh::SHADERS),
    );
    let work = compute(&gpu, "fill", fill::SHADERS);
    let push = programs::fill::Push { first: 0, count: 1 };
    let (target, buffer) = (color(&gpu, "target"), storage(&gpu, "buffer", 64));
    let bind = [buffer.range(0, 16), buffer.range(16, 16)];
    let arguments = storage(&gpu, "arguments", 256);
    let wrong = gpu.buffer(&BufferDesc::uniform("uniform", 256)).unwrap();
    let mut frame = gpu.begin_frame().unwrap();

    let mut dispatch = |buffer_with, offset| {
        frame
            .compute("pass", &work)
            .bind([buffer.whole()])
            .push(&push)
            .dispatch_indirect(buffer_with, offset)
    };
    let room = "indirect arguments need 12 bytes at an offset that is a multiple of 4";
    expect_error(
        dispatch(&arguments, 248),
        &[
            room,
            "given offset 248 in \"arguments\", a buffer of 256 bytes",
        ],
    );
    expect_error(dispatch(&arguments, 2), &[room]);
    expect_error(dispatch(&arguments, u64::MAX - 3), &[room]);
    expect_error(dispatch(&wrong, 0), &[room, "UNIFORM_BUFFER"]);
    dispatch(&arguments, 244).unwrap();

    let mut draw = |offset, count, stride| {
        frame
            .graphics("pass", &vertex)
            .color(&target, Load::DontCare)
            .draw_indirect(&arguments, offset, count, stride)
    };
    expect_error(draw(0, 17, 16), &["need 272 bytes"]);
    expect_error(
        draw(0, 3, 12),
        &["the stride of indirect arguments must be a multiple of 4 and at least 16; given 12"],
    );
    expect_error(draw(0, 3, 18), &["given 18"]);
    expect_error(
        draw(0, 101, 16),
        &["101 indirect draws are over the device's limit of 100"],
    );
    expect_error(
        draw(0, u32::MAX, u32::MAX - 3),
        &["indirect arguments need 18446744047939747864 bytes"],
    );
    draw(0, 16, 16).unwrap();
    draw(16, 0, 16).unwrap();

    let mut counted = |count_offset, most| {
        let pass = frame
            .graphics("pass", &vertex)
            .color(&target, Load::DontCare);
        pass.draw_indirect_count(&arguments, 0, &arguments, count_offset, most, 16)
    };
    expect_error(counted(256, 1), &["need 4 bytes", "given offset 256"]);
    expect_error(counted(1, 1), &["need 4 bytes"]);
    expect_error(counted(0, 101), &["over the device's limit of 100"]);
    counted(252, 16).unwrap();

    let mut tasks = |offset, count, stride| {
        let pass = frame
            .graphics("pass", &mesh)
            .bind(bind)
            .color(&target, Load::DontCare);
        pass.draw_mesh_tasks_indirect(&arguments, offset, count, stride)
    };
    expect_error(tasks(0, 2, 8), &["at least 12; given 8"]);
    expect_error(tasks(248, 1, 12), &["need 12 bytes"]);
    tasks(244, 1, 12).unwrap();
    let mut counted = |count_offset| {
        let pass = frame
            .graphics("pass", &mesh)
            .bind(bind)
            .color(&target, Load::DontCare);
        pass.draw_mesh_tasks_indirect_count(&arguments, 0, &arguments, count_offset, 4, 12)
    };
    expect_error(counted(254), &["need 4 bytes"]);
    counted(64).unwrap();
}

#[test]
fn indirect_arguments_of_another_device_are_refused() {
    let (gpu, other) = (noop(), noop());
    let work = compute(&gpu, "fill", fill::SHADERS);
    let push = programs::fill::Push { first: 0, count: 1 };
    let (buffer, arguments) = (
        storage(&gpu, "buffer", 64),
        storage(&other, "arguments", 64),
    );
    let mut frame = gpu.begin_frame().unwrap();
    let pass = frame
        .compute("pass", &work)
        .bind([buffer.whole()])
        .push(&push);
    expect_error(
        pass.dispatch_indirect(&arguments, 0),
        &["indirect arguments \"arguments\" belong to another device"],
    );
}

#[test]
fn workgroups_are_held_to_the_limits() {
    let gpu = noop();
    let limits = gpu.info().limits;
    let work = compute(&gpu, "fill", fill::SHADERS);
    let push = programs::fill::Push { first: 0, count: 1 };
    let (target, buffer) = (color(&gpu, "target"), storage(&gpu, "buffer", 64));
    let mut frame = gpu.begin_frame().unwrap();
    let [most_x, most_y, _] = limits.max_workgroups;
    let mut dispatch = |groups| {
        frame
            .compute("pass", &work)
            .bind([buffer.whole()])
            .push(&push)
            .dispatch(groups)
    };
    expect_error(
        dispatch([1, most_y + 1, 1]),
        &["workgroups are over the device's limit of"],
    );
    dispatch([most_x, most_y, 1]).unwrap();
    dispatch([0, 1, 1]).unwrap();
    let mut threads = |threads| {
        frame
            .compute("pass", &work)
            .bind([buffer.whole()])
            .push(&push)
            .dispatch_threads(threads)
    };
    expect_error(threads([64, most_y + 1, 1]), &["over the device's limit"]);
    threads([u32::MAX, 1, 1]).unwrap();

    let (mesh, task) = (
        graphics(&gpu, "mesh", touch_mesh::SHADERS),
        graphics(&gpu, "task", payload::SHADERS),
    );
    let bind = [buffer.range(0, 16), buffer.range(16, 16)];
    let [x, y, z] = limits.max_mesh_workgroups;
    let pass = frame
        .graphics("pass", &mesh)
        .bind(bind)
        .color(&target, Load::DontCare);
    expect_error(
        pass.draw_mesh_tasks([x + 1, 1, 1]),
        &["mesh workgroups are over the device's limit of"],
    );
    let pass = frame
        .graphics("pass", &mesh)
        .bind(bind)
        .color(&target, Load::DontCare);
    expect_error(pass.draw_mesh_tasks([x, y, z]), &["in all"]);
    let pass = frame.graphics("pass", &task).color(&target, Load::DontCare);
    let most = limits.max_task_workgroups[1] + 1;
    expect_error(
        pass.draw_mesh_tasks([1, most, 1]),
        &["task workgroups are over the device's limit of"],
    );
    let pass = frame.graphics("pass", &task).color(&target, Load::DontCare);
    expect_error(pass.draw_mesh_tasks([u32::MAX; 3]), &["task workgroups"]);
    frame
        .graphics("pass", &task)
        .color(&target, Load::DontCare)
        .draw_mesh_tasks([3, 1, 1])
        .unwrap();
}
