//! A headless surface and its swapchains.

use super::super::NoopDesc;
use super::Context;
use ash::vk;

#[test]
fn images_go_round_and_failures_come_as_injected() {
    let context = Context::new(NoopDesc::default());
    let entry = context.driver.entry();
    let headless = ash::ext::headless_surface::Instance::new(&entry, &context.instance);
    let surfaces = ash::khr::surface::Instance::new(&entry, &context.instance);
    let swapchains = ash::khr::swapchain::Device::new(&context.instance, &context.device);
    let device = &context.device;
    // SAFETY: all valid.
    unsafe {
        let surface = headless
            .create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None)
            .unwrap();
        let able = surfaces
            .get_physical_device_surface_capabilities(context.physical, surface)
            .unwrap();
        assert_eq!(
            (able.max_image_count, able.current_extent.width),
            (0, u32::MAX)
        );
        assert!(
            surfaces
                .get_physical_device_surface_support(context.physical, 0, surface)
                .unwrap()
        );
        assert!(
            !surfaces
                .get_physical_device_surface_support(context.physical, 1, surface)
                .unwrap()
        );
        let formats = surfaces
            .get_physical_device_surface_formats(context.physical, surface)
            .unwrap();
        let create = |extent: [u32; 2], old| {
            let info = vk::SwapchainCreateInfoKHR::default()
                .surface(surface)
                .min_image_count(2)
                .image_format(formats[0].format)
                .image_extent(vk::Extent2D {
                    width: extent[0],
                    height: extent[1],
                })
                .image_array_layers(1)
                .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
                .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
                .old_swapchain(old);
            swapchains.create_swapchain(&info, None).unwrap()
        };
        let swapchain = create([640, 480], vk::SwapchainKHR::null());
        assert_eq!(swapchains.get_swapchain_images(swapchain).unwrap().len(), 2);
        let semaphore = || {
            device
                .create_semaphore(&vk::SemaphoreCreateInfo::default(), None)
                .unwrap()
        };
        let (acquired, second, rendered) = (semaphore(), semaphore(), semaphore());
        let acquire = |semaphore, timeout| {
            swapchains.acquire_next_image(swapchain, timeout, semaphore, vk::Fence::null())
        };
        let render = |wait| {
            let waits = [vk::SemaphoreSubmitInfo::default().semaphore(wait)];
            let signals = [vk::SemaphoreSubmitInfo::default().semaphore(rendered)];
            let submit = vk::SubmitInfo2::default()
                .wait_semaphore_infos(&waits)
                .signal_semaphore_infos(&signals);
            device
                .queue_submit2(context.queue, &[submit], vk::Fence::null())
                .unwrap();
        };
        let present = |image: u32| {
            let (waits, chains, images) = ([rendered], [swapchain], [image]);
            let info = vk::PresentInfoKHR::default()
                .wait_semaphores(&waits)
                .swapchains(&chains)
                .image_indices(&images);
            swapchains.queue_present(context.queue, &info)
        };

        assert_eq!(acquire(acquired, u64::MAX).unwrap(), (0, false));
        assert_eq!(acquire(second, u64::MAX).unwrap(), (1, false));
        assert_eq!(
            acquire(second, 0),
            Err(vk::Result::NOT_READY),
            "both images are held"
        );
        render(acquired);
        assert_eq!(present(0), Ok(false));

        context
            .driver
            .fail_next("vkAcquireNextImageKHR", vk::Result::SUBOPTIMAL_KHR);
        assert_eq!(
            acquire(acquired, u64::MAX),
            Ok((0, true)),
            "suboptimal did acquire and signal"
        );
        render(acquired);
        context
            .driver
            .fail_next("vkQueuePresentKHR", vk::Result::ERROR_OUT_OF_DATE_KHR);
        assert_eq!(present(0), Err(vk::Result::ERROR_OUT_OF_DATE_KHR));
        context
            .driver
            .fail_next("vkAcquireNextImageKHR", vk::Result::ERROR_OUT_OF_DATE_KHR);
        assert_eq!(
            acquire(acquired, u64::MAX),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR)
        );
        render(second);
        assert_eq!(
            present(1),
            Ok(false),
            "the failed acquire and present left no signal behind"
        );
        assert!(
            context.driver.errors().is_empty(),
            "{:#?}",
            context.driver.errors()
        );

        // Wrong use: an image that is not held, a wait for a semaphore that was used up.
        let _ = present(1);
        let errors = context.driver.take_errors();
        assert!(
            errors.len() == 2 && errors[1].contains("was not acquired"),
            "{errors:#?}"
        );

        context.driver.change_surface(surface, |able| {
            able.current_extent = vk::Extent2D {
                width: 100,
                height: 50,
            };
        });
        let newer = create([100, 50], swapchain);
        assert_eq!(
            acquire(acquired, 0),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR),
            "the old one is retired"
        );
        let newest = create([640, 480], newer);
        let errors = context.driver.take_errors();
        assert!(
            errors.len() == 1 && errors[0].contains("extent"),
            "{errors:#?}"
        );
        for swapchain in [swapchain, newer, newest] {
            swapchains.destroy_swapchain(swapchain, None);
        }
        for semaphore in [acquired, second, rendered] {
            device.destroy_semaphore(semaphore, None);
        }
        assert_eq!(
            context.driver.live(vk::ObjectType::IMAGE),
            0,
            "images go with their swapchain"
        );
        surfaces.destroy_surface(surface, None);
    }
    context.end_clean();
}
