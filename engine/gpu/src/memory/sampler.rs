//! Samplers, shared by value.

use super::Resource;
use crate::binding::Bound;
use crate::device::{Gpu, Inner};
use crate::{Error, Result};
use ash::vk;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How to make a sampler. Equal descriptions share one Vulkan sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplerDesc {
    /// Filter for magnification and minification.
    pub filter: vk::Filter,
    /// Filter between mips.
    pub mip_filter: vk::SamplerMipmapMode,
    /// What happens outside of [0, 1], in all directions.
    pub address: vk::SamplerAddressMode,
    /// Minimum or maximum of the texels in place of their weighted average.
    pub reduction: Option<Reduction>,
    /// Most anisotropy, in whole samples; 1 switches it off, more is clamped to what the device has.
    pub max_anisotropy: u8,
}

/// Minimum or maximum over the texels of a filter's footprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Smallest value.
    Min,
    /// Largest value.
    Max,
}

impl Default for SamplerDesc {
    fn default() -> Self {
        SamplerDesc {
            filter: vk::Filter::LINEAR,
            mip_filter: vk::SamplerMipmapMode::LINEAR,
            address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            reduction: None,
            max_anisotropy: 1,
        }
    }
}

impl SamplerDesc {
    /// Nearest texel of the nearest mip, clamped to the edge.
    pub fn nearest() -> SamplerDesc {
        SamplerDesc {
            filter: vk::Filter::NEAREST,
            mip_filter: vk::SamplerMipmapMode::NEAREST,
            ..Default::default()
        }
    }
}

/// A sampler. Vulkan's object lives as long as the device, since equal samplers share it.
#[derive(Clone)]
pub struct Sampler {
    pub(crate) handle: vk::Sampler,
    resource: Arc<Resource>,
    _gpu: Arc<Inner>,
}

impl Sampler {
    /// The Vulkan handle.
    pub fn raw(&self) -> vk::Sampler {
        self.handle
    }

    /// Number of the device that the sampler belongs to.
    pub(crate) fn device(&self) -> u32 {
        self.resource.device
    }

    /// For a sampler slot.
    pub fn bound(&self) -> Bound<'_> {
        Bound::sampler(&self.resource, self.handle)
    }
}

/// All samplers made so far, by value.
#[derive(Default)]
pub(crate) struct SamplerCache {
    map: Mutex<HashMap<SamplerDesc, (vk::Sampler, Arc<Resource>)>>,
}

impl SamplerCache {
    pub(crate) fn destroy(&self, device: &ash::Device) {
        for (_, (sampler, _)) in crate::lock(&self.map).drain() {
            // SAFETY: only called when the device is idle and about to go.
            unsafe { device.destroy_sampler(sampler, None) };
        }
    }
}

impl Gpu {
    /// Gives a sampler, the one made before if there is an equal one.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a reduction on a device without it, or a filter or address mode that is no part of Vulkan
    /// 1.3's core; [`Error::Vulkan`].
    pub fn sampler(&self, desc: &SamplerDesc) -> Result<Sampler> {
        let gpu = &self.inner;
        if desc.reduction.is_some() && !gpu.info.features.sampler_minmax {
            return Err(Error::invalid(
                format!("sampler {desc:?}"),
                "the device has no min/max samplers",
            ));
        }
        if ![vk::Filter::NEAREST, vk::Filter::LINEAR].contains(&desc.filter)
            || desc.address.as_raw() > vk::SamplerAddressMode::CLAMP_TO_BORDER.as_raw()
        {
            return Err(Error::invalid(
                format!("sampler {desc:?}"),
                "filters are NEAREST and LINEAR; address modes REPEAT, MIRRORED_REPEAT, CLAMP_TO_EDGE and CLAMP_TO_BORDER",
            ));
        }
        let mut map = crate::lock(&gpu.samplers.map);
        if let Some((handle, resource)) = map.get(desc) {
            return Ok(Sampler {
                handle: *handle,
                resource: resource.clone(),
                _gpu: gpu.clone(),
            });
        }
        let mut reduction =
            vk::SamplerReductionModeCreateInfo::default().reduction_mode(match desc.reduction {
                Some(Reduction::Min) => vk::SamplerReductionMode::MIN,
                Some(Reduction::Max) => vk::SamplerReductionMode::MAX,
                None => vk::SamplerReductionMode::WEIGHTED_AVERAGE,
            });
        let anisotropy = gpu.info.features.sampler_anisotropy && desc.max_anisotropy > 1;
        let mut info = vk::SamplerCreateInfo::default()
            .mag_filter(desc.filter)
            .min_filter(desc.filter)
            .mipmap_mode(desc.mip_filter)
            .address_mode_u(desc.address)
            .address_mode_v(desc.address)
            .address_mode_w(desc.address)
            .anisotropy_enable(anisotropy)
            .max_anisotropy(f32::from(desc.max_anisotropy.clamp(1, 16)))
            .max_lod(vk::LOD_CLAMP_NONE);
        if desc.reduction.is_some() {
            info = info.push_next(&mut reduction);
        }
        // SAFETY: the description only names what the device offers.
        let handle = unsafe { gpu.device.create_sampler(&info, None) }
            .map_err(Error::vulkan("vkCreateSampler", format!("{desc:?}")))?;
        let resource = Arc::new(Resource {
            id: gpu.ids.take("sampler"),
            device: gpu.number,
            name: "sampler".into(),
            accepts: 1 << vk::DescriptorType::SAMPLER.as_raw(),
            size: 0,
            description: "a sampler".into(),
        });
        map.insert(*desc, (handle, resource.clone()));
        Ok(Sampler {
            handle,
            resource,
            _gpu: gpu.clone(),
        })
    }
}
