//! The Vulkan instance: loader, validation layer, debug messenger.

use crate::{Error, Result};
use ash::vk;
use std::ffi::{CStr, CString, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// What validation has said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationReport {
    /// Whether the layer is loaded.
    pub enabled: bool,
    /// Name and version of the layer, e.g. `VK_LAYER_KHRONOS_validation 1.3.239`.
    pub layer: Option<String>,
    /// Number of warnings and errors.
    pub messages: u64,
}

/// Messages of the validation layer, kept for tests and reports.
#[derive(Default)]
pub(crate) struct Messages {
    count: AtomicU64,
    texts: Mutex<Vec<String>>,
}

impl Messages {
    /// Only so many texts are kept; all are counted and logged.
    const KEPT: usize = 200;

    pub(crate) fn add(&self, text: String) {
        log::error!("{text}");
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut texts = crate::lock(&self.texts);
        if texts.len() < Self::KEPT {
            texts.push(text);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        crate::lock(&self.texts).clone()
    }

    pub(crate) fn take(&self) -> Vec<String> {
        self.count.store(0, Ordering::Relaxed);
        std::mem::take(&mut *crate::lock(&self.texts))
    }
}

/// The instance with what must live as long as it.
pub(crate) struct Instance {
    pub(crate) raw: ash::Instance,
    pub(crate) entry: ash::Entry,
    pub(crate) debug_utils: bool,
    /// Whether the extensions are on that `VK_EXT_swapchain_maintenance1` builds upon.
    pub(crate) surface_maintenance: bool,
    pub(crate) layer: Option<String>,
    pub(crate) messages: std::sync::Arc<Messages>,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
}

impl Instance {
    pub(crate) fn new(
        entry: ash::Entry,
        app_name: &str,
        validation: bool,
        surfaces: &[&CStr],
    ) -> Result<Instance> {
        let instance = || "the instance".to_owned();
        // SAFETY: the loader's functions may be called from any thread.
        let version = unsafe { entry.try_enumerate_instance_version() }
            .map_err(Error::vulkan("vkEnumerateInstanceVersion", instance()))?
            .unwrap_or(vk::API_VERSION_1_0);
        if version < vk::API_VERSION_1_3 {
            return Err(Error::MissingFeatures {
                device: "Vulkan loader".into(),
                missing: vec![format!(
                    "Vulkan 1.3 (it offers {}.{})",
                    vk::api_version_major(version),
                    vk::api_version_minor(version)
                )],
            });
        }
        let layer = if validation {
            Some(find_layer(&entry)?)
        } else {
            None
        };
        let mut offered = extensions(&entry, None)?;
        if layer.is_some() {
            offered.extend(extensions(&entry, Some(VALIDATION_LAYER))?);
        }
        let has = |name: &CStr| offered.iter().any(|offer| offer.as_c_str() == name);
        let debug_utils = has(ash::ext::debug_utils::NAME);
        let mut names: Vec<&CStr> = surfaces.to_vec();
        if debug_utils {
            names.push(ash::ext::debug_utils::NAME);
        }
        let maintenance = [
            ash::khr::get_surface_capabilities2::NAME,
            ash::ext::surface_maintenance1::NAME,
        ];
        let surface_maintenance = !surfaces.is_empty() && maintenance.into_iter().all(has);
        if surface_maintenance {
            names.extend(maintenance);
        }
        if let Some(lacking) = names.iter().find(|name| !has(name)) {
            return Err(Error::MissingFeatures {
                device: "Vulkan loader".into(),
                missing: vec![format!("extension {}", lacking.to_string_lossy())],
            });
        }
        let mut ways = vec![];
        if layer.is_some() {
            // Loaders older than the layer refuse an extension that they do not know, though the layer has it.
            ways.extend([SyncValidation::Settings, SyncValidation::Feature]);
            ways.retain(|way| has(way.extension()));
        }
        let raw =
            create(&entry, app_name, layer.is_some(), &names, &ways).map_err(
                |result| match result {
                    // What the loader says when it finds no driver.
                    vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::NoDevice { only: Vec::new() },
                    other => Error::vulkan("vkCreateInstance", instance())(other),
                },
            )?;
        let mut this = Instance {
            raw,
            entry,
            debug_utils,
            surface_maintenance,
            layer,
            messages: std::sync::Arc::default(),
            messenger: None,
        };
        if this.layer.is_some() && debug_utils {
            this.create_messenger()?;
        }
        Ok(this)
    }

    fn create_messenger(&mut self) -> Result<()> {
        use vk::{
            DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type,
        };
        let functions = ash::ext::debug_utils::Instance::new(&self.entry, &self.raw);
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::WARNING | Severity::ERROR)
            .message_type(Type::VALIDATION | Type::PERFORMANCE | Type::GENERAL)
            .pfn_user_callback(Some(on_message))
            .user_data(std::sync::Arc::as_ptr(&self.messages).cast_mut().cast());
        // SAFETY: the user data lives until the messenger is destroyed in `drop`.
        let messenger = unsafe { functions.create_debug_utils_messenger(&info, None) }.map_err(
            Error::vulkan("vkCreateDebugUtilsMessengerEXT", "the instance"),
        )?;
        self.messenger = Some((functions, messenger));
        Ok(())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the device, which uses the instance, is dropped before it; nothing else was made from it.
        unsafe {
            if let Some((functions, messenger)) = self.messenger.take() {
                functions.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// How the layer is told to validate synchronization, across submits too. Layers from 1.3.280 on take it as settings;
/// older ones know a feature flag, and the part across submits only from the environment (`VK_LAYER_ENABLES`).
#[derive(Clone, Copy)]
enum SyncValidation {
    Settings,
    Feature,
}

impl SyncValidation {
    fn extension(self) -> &'static CStr {
        match self {
            SyncValidation::Settings => ash::ext::layer_settings::NAME,
            SyncValidation::Feature => ash::ext::validation_features::NAME,
        }
    }
}

/// Creates the instance in the first of the ways that the loader takes; without any, plainly.
fn create(
    entry: &ash::Entry,
    app_name: &str,
    validation: bool,
    extensions: &[&CStr],
    ways: &[SyncValidation],
) -> Result<ash::Instance, vk::Result> {
    let app_name = CString::new(app_name.replace('\0', "")).unwrap_or_default();
    let app = vk::ApplicationInfo::default()
        .application_name(&app_name)
        .engine_name(c"Impel")
        .api_version(vk::API_VERSION_1_3);
    let layers = [VALIDATION_LAYER.as_ptr()];
    let yes = vk::TRUE.to_ne_bytes();
    let settings = [
        c"validate_sync",
        c"syncval_submit_time_validation",
        c"syncval_shader_accesses_heuristic",
    ]
    .map(|name| vk::LayerSettingEXT {
        p_layer_name: VALIDATION_LAYER.as_ptr(),
        p_setting_name: name.as_ptr(),
        ty: vk::LayerSettingTypeEXT::BOOL32,
        value_count: 1,
        p_values: yes.as_ptr().cast::<c_void>(),
        ..Default::default()
    });
    let mut settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
    let mut features = vk::ValidationFeaturesEXT::default()
        .enabled_validation_features(&[vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION]);
    let mut names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let way = ways.first();
    names.extend(way.map(|way| way.extension().as_ptr()));
    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&app)
        .enabled_extension_names(&names)
        .enabled_layer_names(&layers[..usize::from(validation)]);
    match way {
        Some(SyncValidation::Settings) => info = info.push_next(&mut settings),
        Some(SyncValidation::Feature) => info = info.push_next(&mut features),
        None => {}
    }
    // SAFETY: everything that `info` points to lives until the end of this function.
    match unsafe { entry.create_instance(&info, None) } {
        Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT) if !ways.is_empty() => create(
            entry,
            app_name.to_str().unwrap_or_default(),
            validation,
            extensions,
            &ways[1..],
        ),
        result => result,
    }
}

fn find_layer(entry: &ash::Entry) -> Result<String> {
    // SAFETY: the loader's functions may be called from any thread.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.map_err(Error::vulkan(
        "vkEnumerateInstanceLayerProperties",
        "the instance",
    ))?;
    let layer = layers
        .iter()
        .find(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER))
        .ok_or_else(|| {
            Error::invalid(
                "validation",
                "layer VK_LAYER_KHRONOS_validation is not installed",
            )
        })?;
    let version = layer.spec_version;
    Ok(format!(
        "{} {}.{}.{}",
        VALIDATION_LAYER.to_string_lossy(),
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    ))
}

fn extensions(entry: &ash::Entry, layer: Option<&CStr>) -> Result<Vec<CString>> {
    // SAFETY: the layer name, if any, is a valid string.
    let properties = unsafe { entry.enumerate_instance_extension_properties(layer) }.map_err(
        Error::vulkan("vkEnumerateInstanceExtensionProperties", "the instance"),
    )?;
    Ok(properties
        .iter()
        .filter_map(|p| p.extension_name_as_c_str().ok().map(CStr::to_owned))
        .collect())
}

unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer hands over valid data or null, and the user data given to the messenger, which outlives it.
    let (Some(data), Some(messages)) = (unsafe { data.as_ref() }, unsafe {
        user.cast::<Messages>().as_ref()
    }) else {
        return vk::FALSE;
    };
    // SAFETY: the layer's strings are valid for the time of the call.
    let text = unsafe { data.message_as_c_str() }
        .map_or_else(String::new, |text| text.to_string_lossy().into_owned());
    // General messages are about the loader's search for drivers, and advice on speed is against images in `GENERAL`,
    // which is a decision.
    if !kind.contains(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION) {
        log::debug!("{text}");
    } else {
        messages.add(text);
    }
    vk::FALSE
}
