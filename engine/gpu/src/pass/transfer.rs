//! Transfers: fills, copies, blits, clears and read-backs, tracked like any pass.

use super::scope::Scopes;
use crate::device::Inner;
use crate::frame::Frame;
use crate::memory::{
    Buffer, BufferDesc, Memory, Numeric, RawBuffer, ReadBack, Texture, aspect_of, check_buffer,
    check_device, features_of, texel_bytes,
};
use crate::{Error, Result};
use ash::vk;
use std::sync::atomic::Ordering;

impl Frame {
    /// Fills a range of a buffer with copies of `value`. Offset and size are multiples of 4.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a range that does not fit.
    pub fn fill(&mut self, buffer: &Buffer, offset: u64, size: u64, value: u32) -> Result<()> {
        check_buffer(&self.gpu.inner, buffer, offset, size)?;
        if size == 0 || !size.is_multiple_of(4) {
            return Err(Error::invalid(
                format!("buffer {:?}", buffer.name()),
                format!("a fill takes a multiple of 4 bytes; given {size}"),
            ));
        }
        self.clear_sink();
        let (gpu, recorder) = self.parts()?;
        recorder
            .sink
            .accesses
            .push((buffer.resource.id, Scopes::TRANSFER_WRITE));
        recorder.transfer(gpu, "fill", |device, commands| {
            // SAFETY: the range was checked; the buffer lives until the frame is done. So do those of the transfers below.
            unsafe { device.cmd_fill_buffer(commands, buffer.handle, offset, size, value) };
        });
        Ok(())
    }

    /// Writes `bytes` to a buffer, in order with the passes of this frame. For small data; it goes through the staging ring.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a range that does not fit or a staging ring without room.
    pub fn upload(&mut self, buffer: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        check_buffer(&self.gpu.inner, buffer, offset, bytes.len() as u64)?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.clear_sink();
        let (gpu, recorder) = self.parts()?;
        let staged = crate::lock(&gpu.uploads).stage(gpu, bytes)?;
        let Some((staging, start)) = staged else {
            return Err(Error::invalid(
                format!("buffer {:?}", buffer.name()),
                format!("the staging ring has no room for {} bytes", bytes.len()),
            ));
        };
        recorder
            .sink
            .accesses
            .push((buffer.resource.id, Scopes::TRANSFER_WRITE));
        let region = vk::BufferCopy {
            src_offset: start,
            dst_offset: offset,
            size: bytes.len() as u64,
        };
        recorder.transfer(gpu, "upload", |device, commands| {
            // SAFETY: as in `fill`; the staging ring keeps the range until the frame is done.
            unsafe { device.cmd_copy_buffer(commands, staging, buffer.handle, &[region]) };
        });
        Ok(())
    }

    /// Copies bytes from one buffer to another.
    ///
    /// # Errors
    /// [`Error::Invalid`] for ranges that do not fit, or that overlap within one buffer.
    pub fn copy_buffer(
        &mut self,
        source: &Buffer,
        source_offset: u64,
        target: &Buffer,
        target_offset: u64,
        size: u64,
    ) -> Result<()> {
        check_buffer(&self.gpu.inner, target, target_offset, size)?;
        check_source(&self.gpu.inner, source, source_offset, size)?;
        if source.handle == target.handle && source_offset.abs_diff(target_offset) < size {
            return Err(Error::invalid(
                format!("buffer {:?}", source.name()),
                "a copy within one buffer must not overlap",
            ));
        }
        self.clear_sink();
        let (gpu, recorder) = self.parts()?;
        recorder
            .sink
            .accesses
            .push((source.resource.id, Scopes::TRANSFER_READ));
        recorder
            .sink
            .accesses
            .push((target.resource.id, Scopes::TRANSFER_WRITE));
        let region = vk::BufferCopy {
            src_offset: source_offset,
            dst_offset: target_offset,
            size,
        };
        recorder.transfer(gpu, "copy buffer", |device, commands| {
            // SAFETY: as in `fill`.
            unsafe { device.cmd_copy_buffer(commands, source.handle, target.handle, &[region]) };
        });
        Ok(())
    }

    /// Scales the first mip of one texture into the first mip of another, linearly filtered.
    ///
    /// # Errors
    /// [`Error::Invalid`] for textures that were not made to be copied, a texture and itself, or formats that the device
    /// cannot filter or that hold different kinds of numbers.
    pub fn blit(&mut self, source: &Texture, target: &Texture) -> Result<()> {
        check_usage(&self.gpu.inner, source, vk::ImageUsageFlags::TRANSFER_SRC)?;
        check_usage(&self.gpu.inner, target, vk::ImageUsageFlags::TRANSFER_DST)?;
        check_blit(&self.gpu.inner, source, target)?;
        self.clear_sink();
        let (gpu, recorder) = self.parts()?;
        recorder
            .sink
            .accesses
            .push((source.resource.id, Scopes::TRANSFER_READ));
        recorder
            .sink
            .accesses
            .push((target.resource.id, Scopes::TRANSFER_WRITE));
        let corners = |texture: &Texture| {
            let [x, y, z] = texture.size().map(|texels| texels as i32);
            [vk::Offset3D::default(), vk::Offset3D { x, y, z }]
        };
        let region = vk::ImageBlit {
            src_subresource: first_layer(source, 0),
            src_offsets: corners(source),
            dst_subresource: first_layer(target, 0),
            dst_offsets: corners(target),
        };
        recorder.transfer(gpu, "blit", |device, commands| {
            let general = vk::ImageLayout::GENERAL;
            // SAFETY: as in `fill`; both images are in GENERAL from their first use on.
            unsafe {
                device.cmd_blit_image(
                    commands,
                    source.image,
                    general,
                    target.image,
                    general,
                    &[region],
                    vk::Filter::LINEAR,
                );
            };
        });
        Ok(())
    }

    /// Sets all texels of a colour texture. For integer formats the values are rounded towards zero.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a depth texture, or one that was not made to be copied to.
    pub fn clear(&mut self, texture: &Texture, value: [f32; 4]) -> Result<()> {
        check_usage(&self.gpu.inner, texture, vk::ImageUsageFlags::TRANSFER_DST)?;
        if aspect_of(texture.format()) != vk::ImageAspectFlags::COLOR {
            return Err(Error::invalid(
                format!("texture {:?}", texture.name()),
                "depth is cleared by a pass that loads it so",
            ));
        }
        self.clear_sink();
        let (gpu, recorder) = self.parts()?;
        recorder
            .sink
            .accesses
            .push((texture.resource.id, Scopes::TRANSFER_WRITE));
        let range = texture.whole_range();
        recorder.transfer(gpu, "clear", |device, commands| {
            let value = match Numeric::of(texture.format()) {
                Numeric::Uint => vk::ClearColorValue {
                    uint32: value.map(|value| value as u32),
                },
                Numeric::Sint => vk::ClearColorValue {
                    int32: value.map(|value| value as i32),
                },
                _ => vk::ClearColorValue { float32: value },
            };
            // SAFETY: as in `fill`.
            unsafe {
                device.cmd_clear_color_image(
                    commands,
                    texture.image,
                    vk::ImageLayout::GENERAL,
                    &value,
                    &[range],
                );
            };
        });
        Ok(())
    }

    /// Copies a part of a buffer to the CPU. The data is there once the frame is done.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a range that does not fit, [`Error::Vulkan`] when memory runs out.
    pub fn read_back(&mut self, buffer: &Buffer, offset: u64, size: u64) -> Result<ReadBack> {
        check_source(&self.gpu.inner, buffer, offset, size)?;
        let (ticket, target) = self.ticket(size)?;
        let (gpu, recorder) = self.parts()?;
        recorder
            .sink
            .accesses
            .push((buffer.resource.id, Scopes::TRANSFER_READ));
        let region = vk::BufferCopy {
            src_offset: offset,
            dst_offset: 0,
            size,
        };
        recorder.transfer(gpu, "read back", |device, commands| {
            // SAFETY: as in `fill`; the target was made for this copy.
            unsafe { device.cmd_copy_buffer(commands, buffer.handle, target, &[region]) };
        });
        Ok(ticket)
    }

    /// Copies one mip of a texture's first layer to the CPU, texels in rows without padding.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a mip that is not there or a format without a known texel size, [`Error::Vulkan`].
    pub fn read_back_texture(&mut self, texture: &Texture, mip: u32) -> Result<ReadBack> {
        check_usage(&self.gpu.inner, texture, vk::ImageUsageFlags::TRANSFER_SRC)?;
        let texel = texel_bytes(texture.format()).filter(|_| mip < texture.mips());
        let Some(texel) = texel else {
            return Err(Error::invalid(
                format!("texture {:?}", texture.name()),
                format!(
                    "mip {mip} of {} in {:?} cannot be read back",
                    texture.mips(),
                    texture.format()
                ),
            ));
        };
        let [width, height, depth] = texture.mip_size(mip);
        let (ticket, target) =
            self.ticket(u64::from(width) * u64::from(height) * u64::from(depth) * texel)?;
        let (gpu, recorder) = self.parts()?;
        recorder
            .sink
            .accesses
            .push((texture.resource.id, Scopes::TRANSFER_READ));
        let region = vk::BufferImageCopy::default()
            .image_subresource(first_layer(texture, mip))
            .image_extent(vk::Extent3D {
                width,
                height,
                depth,
            });
        recorder.transfer(gpu, "read back", |device, commands| {
            // SAFETY: as in `fill`; the target was made for this copy.
            unsafe {
                device.cmd_copy_image_to_buffer(
                    commands,
                    texture.image,
                    vk::ImageLayout::GENERAL,
                    target,
                    &[region],
                );
            };
        });
        Ok(ticket)
    }

    /// A mapped buffer for one read-back. It is written once, so only the host needs a barrier after it.
    fn ticket(&mut self, size: u64) -> Result<(ReadBack, vk::Buffer)> {
        self.clear_sink();
        let inner = self.gpu.inner.clone();
        let desc = BufferDesc {
            name: "read-back",
            size,
            usage: vk::BufferUsageFlags::TRANSFER_DST,
            memory: Memory::ReadBack,
        };
        let buffer = RawBuffer::new(&inner, &desc)?;
        let handle = buffer.handle;
        let frame = inner.frame_number.load(Ordering::Acquire);
        let (_, recorder) = self.parts()?;
        recorder.reads_back = true;
        Ok((
            ReadBack {
                buffer: Some(buffer),
                size: size as usize,
                frame,
                gpu: inner,
            },
            handle,
        ))
    }
}

fn first_layer(texture: &Texture, mip: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: aspect_of(texture.format()),
        mip_level: mip,
        base_array_layer: 0,
        layer_count: 1,
    }
}

fn check_blit(gpu: &Inner, source: &Texture, target: &Texture) -> Result<()> {
    use vk::FormatFeatureFlags as F;
    let problem = if source.image == target.image {
        "a texture cannot be scaled into itself"
    } else if Numeric::of(source.format()) != Numeric::Float
        || Numeric::of(target.format()) != Numeric::Float
    {
        "only floating point and normalised colours can be filtered"
    } else if !features_of(gpu, source.format())
        .contains(F::BLIT_SRC | F::SAMPLED_IMAGE_FILTER_LINEAR)
        || !features_of(gpu, target.format()).contains(F::BLIT_DST)
    {
        "the device cannot scale between these formats"
    } else if (source.size()[2] > 1) != (target.size()[2] > 1) {
        "a 3D texture can only be scaled into another"
    } else {
        return Ok(());
    };
    Err(Error::invalid(
        format!("blit of {:?} to {:?}", source.name(), target.name()),
        format!(
            "{problem}; they are {} and {}",
            source.resource.description, target.resource.description
        ),
    ))
}

fn check_usage(gpu: &Inner, texture: &Texture, usage: vk::ImageUsageFlags) -> Result<()> {
    if texture.resource.device != gpu.number {
        return Err(Error::invalid(
            format!("texture {:?}", texture.name()),
            "it belongs to another device",
        ));
    }
    if texture.usage().contains(usage) {
        return Ok(());
    }
    Err(Error::invalid(
        format!("texture {:?}", texture.name()),
        format!("it needs {usage:?}; it is {}", texture.resource.description),
    ))
}

fn check_source(gpu: &Inner, buffer: &Buffer, offset: u64, size: u64) -> Result<()> {
    check_device(gpu, buffer)?;
    let fits = size > 0
        && offset
            .checked_add(size)
            .is_some_and(|end| end <= buffer.size());
    if fits && buffer.usage().contains(vk::BufferUsageFlags::TRANSFER_SRC) {
        return Ok(());
    }
    Err(Error::invalid(
        format!("buffer {:?}", buffer.name()),
        format!(
            "a copy of {size} bytes from offset {offset} needs TRANSFER_SRC and room; it is {}",
            buffer.resource.description
        ),
    ))
}
