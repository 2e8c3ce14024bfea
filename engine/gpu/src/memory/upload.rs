//! Uploads: data goes through one staging ring and is copied by the device ahead of the next frame's passes; to new buffers on a
//! queue of its own, where there is one, beside the passes of earlier frames.

use super::{Buffer, BufferDesc, Memory, RawBuffer, Texture, aspect_of, texel_bytes};
use crate::device::{Gpu, Inner};
use crate::pass::ResourceId;
use crate::{Error, Result};
use ash::vk;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

/// Bytes of the staging ring.
const RING: u64 = 32 << 20;
/// One upload is split into pieces of at most this many bytes, so that the ring keeps moving.
const PIECE: u64 = RING / 4;
/// Alignment of pieces, which suits every texel format and copy rule.
const ALIGNMENT: u64 = 16;

/// One copy out of the staging ring.
pub(crate) struct Upload {
    pub(crate) resource: ResourceId,
    pub(crate) staging: vk::Buffer,
    /// What the ring had handed out before this upload's part.
    position: u64,
    pub(crate) copy: Copy,
}

pub(crate) enum Copy {
    Buffer {
        target: vk::Buffer,
        region: vk::BufferCopy,
        /// Number of the frame that was being recorded, or the next one, when the buffer was made.
        made_in: u64,
    },
    Texture {
        target: vk::Image,
        region: vk::BufferImageCopy,
    },
}

/// The staging ring with what waits in it.
#[derive(Default)]
pub(crate) struct Uploads {
    ring: Option<RawBuffer>,
    /// Bytes ever taken and given back; their difference is in use.
    head: u64,
    tail: u64,
    /// Where `head` stood when each frame was submitted.
    marks: VecDeque<(u64, u64)>,
    pub(crate) pending: Vec<Upload>,
}

impl Uploads {
    /// Takes room for `size` bytes; `None` when the ring is too full for it now.
    fn take(&mut self, gpu: &Inner, size: u64) -> Result<Option<u64>> {
        if self.ring.is_none() {
            let usage = vk::BufferUsageFlags::TRANSFER_SRC;
            self.ring = Some(RawBuffer::new(
                gpu,
                &BufferDesc {
                    name: "staging ring",
                    size: RING,
                    usage,
                    memory: Memory::Upload,
                },
            )?);
        }
        let mut start = self.head.next_multiple_of(ALIGNMENT);
        if start % RING + size > RING {
            start = start.next_multiple_of(RING);
        }
        if start + size - self.tail > RING {
            return Ok(None);
        }
        self.head = start + size;
        Ok(Some(start % RING))
    }

    /// Notes that everything taken so far belongs to `frame` or earlier ones, up to what waits for the next frame: that
    /// was asked for while this one was being recorded.
    pub(crate) fn mark(&mut self, frame: u64) {
        let head = self.pending.first().map_or(self.head, |next| next.position);
        if self.marks.back().is_none_or(|&(_, marked)| marked < head) {
            self.marks.push_back((frame, head));
        }
    }

    /// Gives back the room of all frames up to `done`.
    pub(crate) fn collect(&mut self, done: u64) {
        while let Some(&(frame, head)) = self.marks.front() {
            if frame > done {
                break;
            }
            self.tail = head;
            self.marks.pop_front();
        }
    }

    /// Writes `bytes` into the ring; `None` when it is too full for them now.
    pub(crate) fn stage(&mut self, gpu: &Inner, bytes: &[u8]) -> Result<Option<(vk::Buffer, u64)>> {
        let Some(offset) = self.take(gpu, bytes.len() as u64)? else {
            return Ok(None);
        };
        let Some(ring) = &self.ring else {
            return Ok(None);
        };
        ring.write(gpu, offset, bytes)?;
        Ok(Some((ring.handle, offset)))
    }

    pub(crate) fn destroy(&mut self, gpu: &Inner) {
        if let Some(mut ring) = self.ring.take() {
            // SAFETY: only called when the device is idle and about to go.
            unsafe { ring.destroy(gpu) };
        }
    }
}

impl Gpu {
    /// Writes `bytes` to a buffer at `offset`, ahead of the passes of the next frame. Large data goes in pieces, and
    /// frames without passes are submitted in between when the staging ring is full. What goes to a buffer that was made after
    /// the last frame with passes is copied by the transfer queue, if the device has one
    /// ([`OptionalFeatures::transfer_queue`](crate::OptionalFeatures::transfer_queue)); such copies are not timed.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a range outside of the buffer, an offset that is no multiple of 4, or a buffer
    /// that cannot be copied to.
    pub fn upload(&self, buffer: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        check_buffer(&self.inner, buffer, offset, bytes.len() as u64)?;
        let mut at = offset;
        for piece in bytes.chunks(PIECE as usize) {
            let (target, made_in) = (buffer.handle, buffer.made_in);
            self.enqueue(piece, buffer.resource.id, |start| Copy::Buffer {
                target,
                region: vk::BufferCopy {
                    src_offset: start,
                    dst_offset: at,
                    size: piece.len() as u64,
                },
                made_in,
            })?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Writes one mip of one layer of a texture, texels in rows without padding, ahead of the next frame's passes.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a mip or layer that is not there or a number of bytes that does not fit it.
    pub fn upload_texture(
        &self,
        texture: &Texture,
        mip: u32,
        layer: u32,
        bytes: &[u8],
    ) -> Result<()> {
        let thing = || format!("texture {:?}", texture.name());
        let [width, height, depth] = texture.mip_size(mip);
        let texel = texel_bytes(texture.format).ok_or_else(|| {
            Error::invalid(
                thing(),
                format!("uploads to {:?} are not supported", texture.format),
            )
        })?;
        let row = u64::from(width) * texel;
        let expected = row * u64::from(height) * u64::from(depth);
        if mip >= texture.mips
            || layer >= texture.layers
            || bytes.len() as u64 != expected
            || !texture.usage().contains(vk::ImageUsageFlags::TRANSFER_DST)
            || texture.resource.device != self.inner.number
        {
            return Err(Error::invalid(
                thing(),
                format!(
                    "mip {mip} of {}, layer {layer} of {}, {} bytes where {expected} were expected, usage {:?} which needs TRANSFER_DST, and it must be of this device",
                    texture.mips,
                    texture.layers,
                    bytes.len(),
                    texture.usage()
                ),
            ));
        }
        if row > PIECE {
            return Err(Error::invalid(
                thing(),
                format!("a row of {row} bytes is too long to upload"),
            ));
        }
        // Rows of all slices are uploaded in bands; a band stays within one slice.
        let rows = (PIECE / row).min(u64::from(height)) as usize;
        for (slice, texels) in bytes.chunks((row * u64::from(height)) as usize).enumerate() {
            for (band, piece) in texels.chunks(rows * row as usize).enumerate() {
                let target = texture.image;
                self.enqueue(piece, texture.resource.id, |start| Copy::Texture {
                    target,
                    region: vk::BufferImageCopy::default()
                        .buffer_offset(start)
                        .image_subresource(vk::ImageSubresourceLayers {
                            aspect_mask: aspect_of(texture.format),
                            mip_level: mip,
                            base_array_layer: layer,
                            layer_count: 1,
                        })
                        .image_offset(vk::Offset3D {
                            x: 0,
                            y: (band * rows) as i32,
                            z: slice as i32,
                        })
                        .image_extent(vk::Extent3D {
                            width,
                            height: (piece.len() as u64 / row) as u32,
                            depth: 1,
                        }),
                })?;
            }
        }
        Ok(())
    }

    fn enqueue(
        &self,
        piece: &[u8],
        resource: ResourceId,
        copy: impl Fn(u64) -> Copy,
    ) -> Result<()> {
        let gpu = &self.inner;
        loop {
            {
                let mut uploads = crate::lock(&gpu.uploads);
                let position = uploads.head;
                if let Some((staging, start)) = uploads.stage(gpu, piece)? {
                    uploads.pending.push(Upload {
                        resource,
                        staging,
                        position,
                        copy: copy(start),
                    });
                    return Ok(());
                }
            }
            if crate::lock(&gpu.recorder).is_none() {
                return Err(Error::invalid(
                    "upload",
                    "the staging ring is full while a frame is being recorded; submit it first, or upload before it begins",
                ));
            }
            self.begin_frame()?.submit()?.wait()?;
            crate::lock(&gpu.uploads).collect(gpu.frame_number.load(Ordering::Acquire) - 1);
        }
    }
}

/// Checks that a buffer is one of this device.
pub(crate) fn check_device(gpu: &Inner, buffer: &Buffer) -> Result<()> {
    if buffer.resource.device == gpu.number {
        return Ok(());
    }
    Err(Error::invalid(
        format!("buffer {:?}", buffer.name()),
        "it belongs to another device",
    ))
}

/// Checks the range of a write to a buffer by copy.
pub(crate) fn check_buffer(gpu: &Inner, buffer: &Buffer, offset: u64, size: u64) -> Result<()> {
    check_device(gpu, buffer)?;
    let fits = offset
        .checked_add(size)
        .is_some_and(|end| end <= buffer.size());
    if !fits
        || !offset.is_multiple_of(4)
        || !buffer.usage().contains(vk::BufferUsageFlags::TRANSFER_DST)
    {
        return Err(Error::invalid(
            format!("buffer {:?}", buffer.name()),
            format!(
                "a write of {size} bytes at offset {offset} needs TRANSFER_DST, an offset that is a multiple of 4 and room; it is {}",
                buffer.resource.description
            ),
        ));
    }
    Ok(())
}
