//! What the validation layer sees of races, and what it does not.
//!
//! One canary per class of hazard: two passes touch one resource, and the executor is lied to about both, so that no barrier
//! goes between them. Each has a twin that tells the truth and must be silent. The lies go through the lower tier: a pass is
//! described with other resources than those that its closure then pushes.
//!
//! The table at the end says how far "validation was silent" can be trusted with this layer. A class that is known to be
//! seen must be seen, so a layer that checks nothing fails the test.

#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use impel_gpu::testing::{TestGpu, gpu};
use impel_gpu::{
    Binding, Bound, Buffer, BufferDesc, Color, ComputePipelineDesc, Depth, Frame,
    GraphicsPipelineDesc, GraphicsState, Load, PassDesc, Pipeline, RawPass, ResourceId,
    ResourceRef, Sampler, SamplerDesc, Scopes, Shader, ShaderAccess, ShaderCode, Stage, Texture,
    TextureDesc, vk,
};
use programs::{add, copy_image, fill, plain, pointer, scale_texture};
use programs::{touch_fragment, touch_mesh, touch_vertex};

/// How a pass touches the resource in question.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Touch {
    ComputeWrite,
    ComputeRead,
    VertexWrite,
    VertexRead,
    FragmentWrite,
    FragmentRead,
    MeshWrite,
    MeshRead,
    AddressWrite,
    AddressRead,
    DispatchArguments,
    DrawArguments,
    MeshArguments,
    CopyWrite,
    CopyRead,
    ImageWrite,
    ImageRead,
    Sampled,
    ImageClear,
    ColorAttachment,
    DepthAttachment,
    SampledDepth,
}

use Touch::*;

/// First and second touch, whether a submit goes between, and whether layer 1.3.239 is known to see it. That layer looks at
/// no mesh shader, no device address, no attachment of dynamic rendering, and no second write by the same kind of shader in
/// one submit.
const CLASSES: &[(Touch, Touch, bool, bool)] = &[
    (ComputeWrite, ComputeRead, false, true),
    (ComputeRead, ComputeWrite, false, true),
    (ComputeWrite, ComputeWrite, false, false),
    (ComputeWrite, VertexRead, false, true),
    (VertexRead, ComputeWrite, false, true),
    (ComputeWrite, VertexWrite, false, true),
    (ComputeWrite, FragmentRead, false, true),
    (FragmentRead, ComputeWrite, false, true),
    (ComputeWrite, FragmentWrite, false, true),
    (ComputeWrite, MeshRead, false, false),
    (MeshRead, ComputeWrite, false, false),
    (ComputeWrite, MeshWrite, false, false),
    (ComputeWrite, AddressRead, false, false),
    (AddressRead, ComputeWrite, false, false),
    (AddressWrite, ComputeRead, false, false),
    (ComputeWrite, DispatchArguments, false, true),
    (DispatchArguments, ComputeWrite, false, true),
    (ComputeWrite, DrawArguments, false, true),
    (DrawArguments, ComputeWrite, false, true),
    (ComputeWrite, MeshArguments, false, false),
    (ComputeWrite, CopyRead, false, true),
    (CopyWrite, ComputeRead, false, true),
    (CopyRead, ComputeWrite, false, true),
    (CopyWrite, CopyWrite, false, true),
    (ImageWrite, ImageRead, false, true),
    (ImageRead, ImageWrite, false, true),
    (ImageWrite, ImageWrite, false, false),
    (ImageWrite, Sampled, false, true),
    (Sampled, ImageWrite, false, true),
    (ImageClear, Sampled, false, true),
    (ColorAttachment, Sampled, false, false),
    (Sampled, ColorAttachment, false, false),
    (ImageClear, ColorAttachment, false, false),
    (DepthAttachment, SampledDepth, false, false),
    (SampledDepth, DepthAttachment, false, false),
    (ComputeWrite, ComputeRead, true, true),
    (ComputeRead, ComputeWrite, true, true),
    (ComputeWrite, ComputeWrite, true, true),
    (ComputeWrite, VertexRead, true, false),
    (ComputeWrite, DispatchArguments, true, true),
    (ImageWrite, Sampled, true, false),
    (ColorAttachment, Sampled, true, false),
    (CopyWrite, ComputeRead, true, true),
];

/// What a closure pushes in place of what its pass was described with.
#[derive(Clone, Copy)]
enum Real<'a> {
    Buffer(&'a Buffer),
    Sampled(&'a Texture),
    Storage(&'a Texture),
}

/// How a pass's work is started.
enum Go<'a> {
    Dispatch,
    DispatchIndirect(&'a Buffer),
    Draw,
    DrawIndirect(&'a Buffer),
    Mesh,
    MeshIndirect(&'a Buffer),
    Copy(&'a Buffer, &'a Buffer),
    Clear(&'a Texture),
}

/// What a pass does, told truly.
struct Work<'a> {
    pipeline: Option<Pipeline>,
    slots: Vec<Real<'a>>,
    push: Vec<u8>,
    color: Option<&'a Texture>,
    depth: Option<&'a Texture>,
    /// What neither slots nor attachments show.
    accesses: Vec<(ResourceId, Scopes)>,
    go: Go<'a>,
}

/// Resources that only one of the two passes touches.
struct Others {
    buffers: [Buffer; 2],
    images: [Texture; 2],
    /// What a lie tells in place of the resource in question.
    decoy_buffer: Buffer,
    decoy_image: Texture,
}

/// The resource in question, as a buffer, a colour and a depth image, and what each pass has for itself.
struct Lab<'a> {
    gpu: &'a TestGpu,
    buffer: Buffer,
    image: Texture,
    depth: Texture,
    sampler: Sampler,
    others: [Others; 2],
}

impl<'a> Lab<'a> {
    fn new(gpu: &'a TestGpu) -> Lab<'a> {
        let others = || Others {
            buffers: [storage(gpu, "other 0"), storage(gpu, "other 1")],
            images: [color(gpu, "other 0"), color(gpu, "other 1")],
            decoy_buffer: storage(gpu, "decoy"),
            decoy_image: color(gpu, "decoy"),
        };
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
        let lab = Lab {
            gpu,
            buffer: storage(gpu, "buffer"),
            image: color(gpu, "image"),
            depth: gpu
                .texture(&TextureDesc {
                    name: "depth",
                    format: vk::Format::D32_SFLOAT,
                    size: [16, 16, 1],
                    usage,
                    ..Default::default()
                })
                .unwrap(),
            sampler: gpu.sampler(&SamplerDesc::nearest()).unwrap(),
            others: [others(), others()],
        };
        // Arguments for one small dispatch or draw, whatever races later. This also takes all images to their layout.
        let ones = bytemuck::cast_slice(&[1_u32; 64]);
        gpu.upload(&lab.buffer, 0, ones).unwrap();
        gpu.begin_frame().unwrap().submit().unwrap();
        gpu.wait_idle().unwrap();
        gpu.frame_results();
        lab
    }

    fn work<'b>(&'b self, touch: Touch, pass: usize) -> Work<'b> {
        let (x, image, others) = (&self.buffer, &self.image, &self.others[pass]);
        let [one, two] = &others.buffers;
        let [target, second] = &others.images;
        let compute = |access| Scopes::shader(Stage::Compute, access);
        let read = compute(ShaderAccess::StorageRead);
        let write = compute(ShaderAccess::StorageWrite);
        let (push_fill, push_add, push_factor) = (
            fill::Push { first: 1, count: 1 },
            add::Push {
                count: 4,
                ..Default::default()
            },
            scale_texture::Push { factor: 1.0 },
        );
        let (filled, added, factor) = (
            bytemuck::bytes_of(&push_fill),
            bytemuck::bytes_of(&push_add),
            bytemuck::bytes_of(&push_factor),
        );
        let raw = |go, accesses| Work {
            pipeline: None,
            slots: Vec::new(),
            push: Vec::new(),
            color: None,
            depth: None,
            accesses,
            go,
        };
        let shaded = |code: &[ShaderCode], slots: Vec<Real<'b>>, push: &[u8], go| Work {
            pipeline: Some(pipeline(self.gpu, code)),
            slots,
            push: push.to_vec(),
            ..raw(go, Vec::new())
        };
        let drawn = |code: &[ShaderCode], slots: Vec<Real<'b>>, go| Work {
            color: Some(second),
            ..shaded(code, slots, &[], go)
        };
        let pointed = |source: &Buffer, target: &Buffer| {
            let push = pointer::Push {
                source: source.address(),
                target: target.address(),
                count: 4,
                reserved: 0,
            };
            Work {
                accesses: vec![(source.id(), read), (target.id(), write)],
                ..shaded(
                    pointer::SHADERS,
                    Vec::new(),
                    bytemuck::bytes_of(&push),
                    Go::Dispatch,
                )
            }
        };
        use Real::{Buffer as B, Sampled as T, Storage as S};
        match touch {
            ComputeWrite => shaded(fill::SHADERS, vec![B(x)], filled, Go::Dispatch),
            ComputeRead => shaded(
                add::SHADERS,
                vec![B(x), B(one), B(two)],
                added,
                Go::Dispatch,
            ),
            VertexWrite => drawn(touch_vertex::SHADERS, vec![B(one), B(x)], Go::Draw),
            VertexRead => drawn(touch_vertex::SHADERS, vec![B(x), B(one)], Go::Draw),
            FragmentWrite => drawn(touch_fragment::SHADERS, vec![B(one), B(x)], Go::Draw),
            FragmentRead => drawn(touch_fragment::SHADERS, vec![B(x), B(one)], Go::Draw),
            MeshWrite => drawn(touch_mesh::SHADERS, vec![B(one), B(x)], Go::Mesh),
            MeshRead => drawn(touch_mesh::SHADERS, vec![B(x), B(one)], Go::Mesh),
            AddressWrite => pointed(one, x),
            AddressRead => pointed(x, one),
            DispatchArguments => {
                shaded(fill::SHADERS, vec![B(one)], filled, Go::DispatchIndirect(x))
            }
            DrawArguments => drawn(plain::SHADERS, vec![], Go::DrawIndirect(x)),
            MeshArguments => drawn(
                touch_mesh::SHADERS,
                vec![B(one), B(two)],
                Go::MeshIndirect(x),
            ),
            CopyWrite => raw(
                Go::Copy(one, x),
                vec![
                    (one.id(), Scopes::TRANSFER_READ),
                    (x.id(), Scopes::TRANSFER_WRITE),
                ],
            ),
            CopyRead => raw(
                Go::Copy(x, one),
                vec![
                    (x.id(), Scopes::TRANSFER_READ),
                    (one.id(), Scopes::TRANSFER_WRITE),
                ],
            ),
            ImageWrite => shaded(
                copy_image::SHADERS,
                vec![S(target), S(image)],
                &[],
                Go::Dispatch,
            ),
            ImageRead => shaded(
                copy_image::SHADERS,
                vec![S(image), S(target)],
                &[],
                Go::Dispatch,
            ),
            Sampled => shaded(
                scale_texture::SHADERS,
                vec![T(image), S(target)],
                factor,
                Go::Dispatch,
            ),
            SampledDepth => {
                let slots = vec![T(&self.depth), S(target)];
                shaded(scale_texture::SHADERS, slots, factor, Go::Dispatch)
            }
            ImageClear => raw(Go::Clear(image), vec![(image.id(), Scopes::TRANSFER_WRITE)]),
            ColorAttachment => Work {
                color: Some(image),
                ..drawn(plain::SHADERS, vec![], Go::Draw)
            },
            DepthAttachment => Work {
                depth: Some(&self.depth),
                ..drawn(plain::SHADERS, vec![], Go::Draw)
            },
        }
    }

    /// Whether it is one of the resources in question.
    fn in_question(&self, real: Real<'_>) -> bool {
        match real {
            Real::Buffer(buffer) => buffer.id() == self.buffer.id(),
            Real::Sampled(texture) | Real::Storage(texture) => {
                texture.id() == self.image.id() || texture.id() == self.depth.id()
            }
        }
    }

    fn bound<'b>(&'b self, real: Real<'b>) -> Bound<'b> {
        match real {
            Real::Buffer(buffer) => buffer.whole(),
            Real::Sampled(texture) => texture.sampled(&self.sampler),
            Real::Storage(texture) => texture.storage(),
        }
    }

    /// The entry of an update template's data.
    fn binding(&self, real: Real<'_>) -> Binding {
        let image = |image_view, sampler| Binding {
            image: vk::DescriptorImageInfo {
                sampler,
                image_view,
                image_layout: vk::ImageLayout::GENERAL,
            },
        };
        match real {
            Real::Buffer(buffer) => Binding {
                buffer: vk::DescriptorBufferInfo {
                    buffer: buffer.raw(),
                    offset: 0,
                    range: buffer.size(),
                },
            },
            Real::Sampled(texture) => image(texture.raw_view(), self.sampler.raw()),
            Real::Storage(texture) => image(texture.raw_view(), vk::Sampler::null()),
        }
    }

    /// Records one pass, described truly or not.
    fn record<'b>(&'b self, frame: &mut Frame, work: &Work<'b>, pass: usize, truly: bool) {
        let others = &self.others[pass];
        let told = |real: &Real<'b>| -> Bound<'b> {
            match real {
                _ if truly || !self.in_question(*real) => self.bound(*real),
                Real::Buffer(_) => others.decoy_buffer.whole(),
                Real::Sampled(_) => others.decoy_image.sampled(&self.sampler),
                Real::Storage(_) => others.decoy_image.storage(),
            }
        };
        let bindings: Vec<_> = work.slots.iter().map(told).collect();
        let mut accesses = work.accesses.clone();
        if let Go::DispatchIndirect(x) | Go::DrawIndirect(x) | Go::MeshIndirect(x) = work.go {
            accesses.push((x.id(), Scopes::INDIRECT_READ));
        }
        if !truly {
            // Something must be told, or the pass gets full barriers.
            let read = Scopes::shader(Stage::Compute, ShaderAccess::StorageRead);
            accesses = vec![(others.decoy_buffer.id(), read)];
        }
        let load = Load::DontCare;
        let colors: Vec<_> = work
            .color
            .iter()
            .map(|texture| Color { texture, load })
            .collect();
        let desc = PassDesc {
            name: "canary",
            pipeline: work.pipeline.as_ref(),
            bindings: &bindings,
            push_constants: &work.push,
            colors: &colors,
            depth: work.depth.map(|texture| Depth { texture, load }),
            accesses: &accesses,
            uses_all: false,
        };
        let real: Vec<_> = work.slots.iter().map(|real| self.binding(*real)).collect();
        let push = |raw: &RawPass<'_>| {
            if let Some(pipeline) = work.pipeline.as_ref().filter(|_| !real.is_empty()) {
                let function = raw
                    .push_descriptor
                    .fp()
                    .cmd_push_descriptor_set_with_template_khr;
                // SAFETY: the data has one entry per descriptor of the template, all of live resources.
                unsafe {
                    function(
                        raw.commands,
                        pipeline.raw_template(),
                        pipeline.raw_layout(),
                        0,
                        real.as_ptr().cast(),
                    );
                }
            }
        };
        frame
            .pass(&desc, |raw| {
                if !truly {
                    push(raw);
                }
                work.go.record(raw);
            })
            .unwrap();
    }

    /// Records and submits both passes.
    fn run(&self, (first, second, across, _): (Touch, Touch, bool, bool), truly: bool) {
        let works = [self.work(first, 0), self.work(second, 1)];
        // Pipelines were made; from here on the layer watches.
        let mut frame = self.gpu.begin_frame().unwrap();
        self.record(&mut frame, &works[0], 0, truly);
        if across {
            frame.submit().unwrap();
            frame = self.gpu.begin_frame().unwrap();
        }
        self.record(&mut frame, &works[1], 1, truly);
        frame.submit().unwrap();
        self.gpu.wait_idle().unwrap();
        let barriers: u32 = self
            .gpu
            .frame_results()
            .iter()
            .map(|result| result.barriers)
            .sum();
        assert_eq!(
            barriers > 0,
            truly,
            "{first:?}, {second:?}: {barriers} barriers"
        );
    }
}

impl Go<'_> {
    fn record(&self, raw: &RawPass<'_>) {
        let (device, commands) = (raw.device, raw.commands);
        let mesh = || {
            raw.mesh_shader
                .expect("classes with mesh shaders need them")
        };
        // SAFETY: the pass has bound what the pipeline needs; arguments and copies lie in their buffers.
        unsafe {
            match *self {
                Go::Dispatch => device.cmd_dispatch(commands, 1, 1, 1),
                Go::DispatchIndirect(x) => device.cmd_dispatch_indirect(commands, x.raw(), 0),
                Go::Draw => device.cmd_draw(commands, 3, 1, 0, 0),
                Go::DrawIndirect(x) => device.cmd_draw_indirect(commands, x.raw(), 0, 1, 16),
                Go::Mesh => mesh().cmd_draw_mesh_tasks(commands, 1, 1, 1),
                Go::MeshIndirect(x) => {
                    mesh().cmd_draw_mesh_tasks_indirect(commands, x.raw(), 0, 1, 12);
                }
                Go::Copy(from, to) => {
                    let region = vk::BufferCopy {
                        src_offset: 0,
                        dst_offset: 0,
                        size: 256,
                    };
                    device.cmd_copy_buffer(commands, from.raw(), to.raw(), &[region]);
                }
                Go::Clear(image) => {
                    let range = vk::ImageSubresourceRange {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        base_mip_level: 0,
                        level_count: 1,
                        base_array_layer: 0,
                        layer_count: 1,
                    };
                    let (layout, value) =
                        (vk::ImageLayout::GENERAL, vk::ClearColorValue::default());
                    device.cmd_clear_color_image(commands, image.raw(), layout, &value, &[range]);
                }
            }
        }
    }
}

fn storage(gpu: &TestGpu, name: &str) -> Buffer {
    gpu.buffer(&BufferDesc::storage(name, 256)).unwrap()
}

fn color(gpu: &TestGpu, name: &str) -> Texture {
    gpu.texture(&TextureDesc {
        name,
        size: [16, 16, 1],
        usage: vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::SAMPLED
            | vk::ImageUsageFlags::STORAGE
            | vk::ImageUsageFlags::TRANSFER_DST,
        ..Default::default()
    })
    .unwrap()
}

fn pipeline(gpu: &TestGpu, code: &[ShaderCode]) -> Pipeline {
    let shaders: Vec<_> = code
        .iter()
        .map(|code| Shader::from_code(code).unwrap())
        .collect();
    let made = match shaders.as_slice() {
        [shader] => gpu.compute_pipeline(&ComputePipelineDesc {
            name: code[0].name,
            shader,
            constants: &[],
        }),
        _ => gpu.graphics_pipeline(&GraphicsPipelineDesc {
            name: code[0].name,
            shaders: &shaders.iter().collect::<Vec<_>>(),
            constants: &[],
            state: GraphicsState {
                cull: vk::CullModeFlags::NONE,
                ..Default::default()
            },
        }),
    };
    made.unwrap()
}

#[test]
fn each_class_of_hazard_has_a_canary() {
    let mut layer = None;
    let (mut table, mut failures) = (Vec::new(), Vec::new());
    for &class in CLASSES {
        let (first, second, across, known) = class;
        let name = format!(
            "{second:?} after {first:?}{}",
            if across { ", across submits" } else { "" }
        );
        // A device of its own for each class: the layer says the same thing only so many times.
        let gpu = gpu();
        layer = gpu.validation().layer;
        let mesh = [first, second]
            .iter()
            .any(|touch| matches!(touch, MeshWrite | MeshRead | MeshArguments));
        if mesh && !gpu.info().features.mesh_shaders {
            table.push(format!("{name:<55} no mesh shaders on this device"));
            continue;
        }
        Lab::new(&gpu).run(class, true);
        let said = gpu.take_messages();
        if !said.is_empty() {
            failures.push(format!(
                "{name}: the truth is not silent: {}",
                said.join("\n")
            ));
        }
        Lab::new(&gpu).run(class, false);
        let said = gpu.take_messages();
        // Older layers put the message's name into its text, newer ones say in words what it is about.
        let is_hazard =
            |text: &String| text.contains("SYNC-HAZARD-") || text.contains("hazard detected");
        if let Some(other) = said.iter().find(|text| !is_hazard(text)) {
            failures.push(format!("{name}: {other}"));
        }
        let seen = !said.is_empty();
        let line = format!("{name:<55} {}", if seen { "seen" } else { "not seen" });
        println!("{line}");
        table.push(line);
        // Newer layers take note when the host has seen a frame's end, as it may have by the next submit.
        let may_miss = across && !layer.as_deref().unwrap_or_default().ends_with("1.3.239");
        if known && !seen && !may_miss {
            failures.push(format!(
                "{name}: the layer is known to see this, but was silent"
            ));
        }
    }
    println!("\n{}\n{}", layer.unwrap_or_default(), table.join("\n"));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// No layer sees reads by mesh shaders or through addresses. A copy after one must not be taken for one that nothing orders after
/// the copy before it.
#[test]
fn readers_that_layers_overlook_are_no_races() {
    for reader in [
        ComputeRead,
        VertexRead,
        FragmentRead,
        MeshRead,
        AddressRead,
        CopyRead,
    ] {
        let gpu = gpu();
        if reader == MeshRead && !gpu.info().features.mesh_shaders {
            println!("no mesh shaders on this device");
            continue;
        }
        let lab = Lab::new(&gpu);
        let mut frame = gpu.begin_frame().unwrap();
        for (touch, pass) in [(CopyWrite, 0), (reader, 1), (CopyWrite, 0)] {
            lab.record(&mut frame, &lab.work(touch, pass), pass, true);
        }
        frame.submit().unwrap();
        gpu.wait_idle().unwrap();
        assert_eq!(gpu.take_messages(), Vec::<String>::new(), "{reader:?}");
    }
}
