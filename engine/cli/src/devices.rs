//! `impel devices`: what each Vulkan device can do, what the engine will use of it, and what it lacks.

use std::fmt::Write as _;

use impel_gpu::{DeviceInfo, Error as GpuError, Gpu, GpuDesc};

use crate::error::Error;

/// More devices than any machine has, so that the search ends.
const MAX_DEVICES: usize = 64;

/// Opens each device in turn and describes it.
pub(crate) fn devices() -> Result<String, Error> {
    let mut out = String::new();
    for index in 0..MAX_DEVICES {
        let desc = GpuDesc {
            device: Some(index.to_string()),
            ..GpuDesc::default()
        };
        match Gpu::new(&desc) {
            Ok(gpu) => describe(&mut out, index, gpu.info()),
            Err(GpuError::MissingFeatures { device, missing }) => {
                let _ = writeln!(out, "{index}  {device}: cannot be used");
                for thing in missing {
                    let _ = writeln!(out, "     lacks {thing}");
                }
            }
            Err(GpuError::DeviceNotFound { .. }) if index > 0 => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(out)
}

fn describe(out: &mut String, index: usize, info: &DeviceInfo) {
    let DeviceInfo {
        name,
        driver,
        api,
        limits,
        features,
        ..
    } = info;
    let _ = writeln!(
        out,
        "{index}  {name}: {}, Vulkan {api}, {driver}",
        info.kind.as_str()
    );
    let mut paths = Vec::new();
    let meshes = features.mesh_shaders;
    for (there, path) in [
        (features.buffer_int64_atomics, "hybrid"),
        (meshes, "mesh"),
        (meshes, "task"),
        (true, "vertex"),
    ] {
        if there {
            paths.push(path);
        }
    }
    let _ = writeln!(
        out,
        "     raster paths         {} are possible",
        paths.join(", ")
    );
    let _ = writeln!(
        out,
        "     push descriptors     {}",
        limits.max_push_descriptors
    );
    let _ = writeln!(
        out,
        "     push constants       {} bytes",
        limits.max_push_constants
    );
    let _ = writeln!(
        out,
        "     storage buffer       {} MB at most",
        limits.max_storage_buffer_range >> 20
    );
    let _ = writeln!(
        out,
        "     texture              {} texels along an edge at most",
        limits.max_texture_size
    );
    let _ = writeln!(
        out,
        "     subgroup             {} invocations",
        limits.subgroup_size
    );
    let timestamps = match limits.timestamp_bits {
        0 => "none: no GPU times".to_owned(),
        bits => format!("{bits} bits, {} ns a tick", limits.timestamp_period),
    };
    let _ = writeln!(out, "     timestamps           {timestamps}");
    for fallback in features.fallbacks() {
        let _ = writeln!(out, "     {fallback}");
    }
}
