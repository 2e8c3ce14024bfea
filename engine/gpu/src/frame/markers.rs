//! Markers: the device writes down which passes it has begun and finished, where this can be read after its loss.
//!
//! Timestamps tell as much while the device lives (see [`Timing`](super::timing::Timing)), but drivers refuse to hand them
//! out after its loss (`VK_ERROR_DEVICE_LOST`). Two extensions are made for that. `VK_AMD_buffer_marker` (AMD) writes numbers
//! to memory of ours, which stays mapped. With `VK_NV_device_diagnostic_checkpoints` (NVIDIA) the driver keeps the last number
//! that each end of the pipeline has seen.

use crate::Result;
use crate::device::Inner;
use crate::memory::{BufferDesc, Memory, RawBuffer};
use ash::vk;
use std::ffi::{CStr, c_void};

/// The extensions, better one first: AMD's tells the ends of passes, too.
pub(crate) const EXTENSIONS: [&CStr; 2] = [
    ash::amd::buffer_marker::NAME,
    ash::nv::device_diagnostic_checkpoints::NAME,
];

/// Passes of a frame that have a place in the buffer; those after them are not told apart.
const PASSES: usize = 4096;
/// Bytes of a pass: one word becomes 1 when it begins, one when it is finished. Each is written once a frame, so that no two
/// writes need an order.
const PASS: u64 = 8;

/// Low bits of a checkpoint: the number of passes begun in its frame, whose number is in the other bits.
const PASS_BITS: u32 = 16;
/// The checkpoint at a frame's end.
const FRAME_END: u64 = (1 << PASS_BITS) - 1;

/// How the device writes markers.
pub(crate) enum Markers {
    Buffer {
        functions: ash::amd::buffer_marker::Device,
        buffer: RawBuffer,
    },
    Checkpoints(ash::nv::device_diagnostic_checkpoints::Device),
}

impl Markers {
    /// By the extension that the device has switched on, if any.
    pub(crate) fn new(gpu: &Inner) -> Result<Option<Markers>> {
        let (instance, device) = (&gpu.instance.raw, &gpu.device);
        let Some(extension) = gpu.markers else {
            return Ok(None);
        };
        if extension != ash::amd::buffer_marker::NAME {
            return Ok(Some(Markers::Checkpoints(
                ash::nv::device_diagnostic_checkpoints::Device::new(instance, device),
            )));
        }
        let buffer = RawBuffer::new(
            gpu,
            &BufferDesc {
                name: "markers",
                size: place(gpu.desc.frames_in_flight as usize, 0),
                usage: vk::BufferUsageFlags::TRANSFER_DST,
                memory: Memory::ReadBack,
            },
        )?;
        Ok(Some(Markers::Buffer {
            functions: ash::amd::buffer_marker::Device::new(instance, device),
            buffer,
        }))
    }

    /// Whether they can be read while the device is not lost.
    pub(crate) fn are_readable(&self) -> bool {
        matches!(self, Markers::Buffer { .. })
    }

    /// Frees everything. The device must be idle.
    pub(crate) fn destroy(&mut self, gpu: &Inner) {
        if let Markers::Buffer { buffer, .. } = self {
            // SAFETY: the device is idle, and nothing is recorded any more.
            unsafe { buffer.destroy(gpu) };
        }
    }

    /// Starts a frame in a place in flight, with which the device is done; so many passes of the frame before were marked.
    pub(crate) fn begin_frame(&self, gpu: &Inner, slot: usize, before: usize) -> Result<()> {
        let size = place(0, before.min(PASSES)) as usize;
        match self {
            Markers::Buffer { buffer, .. } if size > 0 => {
                buffer.write(gpu, place(slot, 0), &vec![0; size])
            }
            _ => Ok(()),
        }
    }

    /// Marks that a pass of a frame begins, counted from 0.
    #[inline(never)]
    pub(crate) fn begin_pass(
        &self,
        commands: vk::CommandBuffer,
        slot: usize,
        frame: u64,
        pass: usize,
    ) {
        match self {
            Markers::Buffer { functions, buffer } if pass < PASSES => {
                // SAFETY: the command buffer is being recorded, outside of rendering; the buffer has the place.
                unsafe {
                    functions.cmd_write_buffer_marker(
                        commands,
                        vk::PipelineStageFlags::TOP_OF_PIPE,
                        buffer.handle,
                        place(slot, pass),
                        1,
                    );
                }
            }
            Markers::Buffer { .. } => {}
            Markers::Checkpoints(functions) => {
                let count = (pass as u64 + 1).min(FRAME_END - 1);
                set_checkpoint(functions, commands, frame << PASS_BITS | count);
            }
        }
    }

    /// Marks that a pass is finished. A checkpoint is not needed: the next one says as much.
    #[inline(never)]
    pub(crate) fn end_pass(&self, commands: vk::CommandBuffer, slot: usize, pass: usize) {
        match self {
            Markers::Buffer { functions, buffer } if pass < PASSES => {
                // SAFETY: as above.
                unsafe {
                    functions.cmd_write_buffer_marker(
                        commands,
                        vk::PipelineStageFlags::BOTTOM_OF_PIPE,
                        buffer.handle,
                        place(slot, pass) + PASS / 2,
                        1,
                    );
                }
            }
            _ => {}
        }
    }

    /// Marks a frame's end.
    pub(crate) fn end_frame(&self, commands: vk::CommandBuffer, frame: u64) {
        if let Markers::Checkpoints(functions) = self {
            set_checkpoint(functions, commands, frame << PASS_BITS | FRAME_END);
        }
    }

    /// Which of the `count` passes of a frame were begun and are not finished. The device must be lost.
    pub(crate) fn under_way(
        &self,
        gpu: &Inner,
        slot: usize,
        frame: u64,
        count: usize,
    ) -> Vec<usize> {
        match self {
            Markers::Buffer { buffer, .. } => {
                let size = place(0, count.min(PASSES)) as usize;
                let bytes = buffer.read(gpu, place(slot, 0), size);
                let words = bytes.unwrap_or_default();
                let passes = words.chunks_exact(PASS as usize).map(|pass| {
                    let (begun, finished) = pass.split_at(PASS as usize / 2);
                    begun != [0; 4] && finished == [0; 4]
                });
                (0..)
                    .zip(passes)
                    .filter(|(_, under_way)| *under_way)
                    .map(|(pass, _)| pass)
                    .collect()
            }
            Markers::Checkpoints(functions) => {
                let (mut begun, mut passed) = (0, 0);
                for checkpoint in checkpoints(functions, gpu.queue) {
                    let marker = checkpoint.p_checkpoint_marker as u64;
                    if checkpoint.stage == vk::PipelineStageFlags::BOTTOM_OF_PIPE {
                        passed = marker;
                    }
                    begun = begun.max(marker);
                }
                // Passes of this frame up to a marker.
                let up_to = |marker: u64| match marker.checked_sub(frame << PASS_BITS) {
                    Some(passes) if passes < FRAME_END => passes as usize,
                    Some(_) => usize::MAX,
                    None => 0,
                };
                // What came before a beginning that has gone all the way is finished.
                let finished = match up_to(passed) {
                    usize::MAX => count,
                    passes => passes.saturating_sub(1),
                };
                (finished..up_to(begun).min(count)).collect()
            }
        }
    }
}

/// Where a pass of a place in flight has its words.
fn place(slot: usize, pass: usize) -> u64 {
    (slot * PASSES + pass) as u64 * PASS
}

fn set_checkpoint(
    functions: &ash::nv::device_diagnostic_checkpoints::Device,
    commands: vk::CommandBuffer,
    marker: u64,
) {
    // SAFETY: the command buffer is being recorded; nobody follows the pointer, which is the number itself.
    unsafe { functions.cmd_set_checkpoint(commands, marker as usize as *const c_void) };
}

fn checkpoints(
    functions: &ash::nv::device_diagnostic_checkpoints::Device,
    queue: vk::Queue,
) -> Vec<vk::CheckpointDataNV<'static>> {
    let get = functions.fp().get_queue_checkpoint_data_nv;
    let mut count = 0;
    // SAFETY: the queue is the device's; without a place for the list its length is written.
    unsafe { get(queue, &mut count, std::ptr::null_mut()) };
    let mut list = vec![vk::CheckpointDataNV::default(); count as usize];
    // SAFETY: the list has so many elements.
    unsafe { get(queue, &mut count, list.as_mut_ptr()) };
    list.truncate(count as usize);
    list
}
