//! The window presenter: on the no-op driver, whose swapchains fail when told to, and on a real driver without a window
//! system, under validation.

use ash::vk;
use impel_gpu::noop::{Command, NoopDesc, NoopDriver};
use impel_gpu::{
    Color, Error, Gpu, GpuDesc, Load, PassDesc, ResourceRef, Scopes, Window, WindowDesc, testing,
};

/// What a device is opened with for windows that nobody sees.
fn headless() -> GpuDesc {
    GpuDesc {
        surface_extensions: vec![ash::khr::surface::NAME, ash::ext::headless_surface::NAME],
        ..GpuDesc::default()
    }
}

fn open(desc: NoopDesc) -> (NoopDriver, Gpu) {
    let driver = NoopDriver::new(desc);
    let gpu = Gpu::with_entry(&headless(), driver.entry()).expect("no-op device");
    (driver, gpu)
}

fn window(gpu: &Gpu, size: [u32; 2]) -> Window {
    let desc = WindowDesc {
        size,
        ..WindowDesc::default()
    };
    Window::headless(gpu, &desc).expect("window")
}

/// Draws a frame; says whether it went to an image of the window.
fn draw(gpu: &Gpu, window: &mut Window) -> Result<bool, Error> {
    let mut frame = gpu.begin_frame()?;
    let shown = match window.acquire(&mut frame)? {
        Some(image) => {
            let desc = PassDesc {
                name: "clear",
                colors: &[Color {
                    texture: image,
                    load: Load::Clear([0.25, 0.5, 0.75, 1.0]),
                }],
                accesses: &[(image.id(), Scopes::COLOR_WRITE)],
                ..PassDesc::default()
            };
            frame.pass(&desc, |_| {})?;
            true
        }
        None => false,
    };
    let submitted = frame.submit()?;
    window.present(&submitted)?;
    Ok(shown)
}

fn end(driver: &NoopDriver, gpu: Gpu, window: Window) {
    drop(window);
    drop(gpu);
    assert_eq!(driver.errors(), Vec::<String>::new());
    assert_eq!(driver.leaks(), Vec::new());
}

/// Submissions stay pending, so that what is destroyed too early is an error. With and without present fences.
fn drivers() -> [NoopDesc; 2] {
    let deferred = |desc: NoopDesc| NoopDesc {
        defer: true,
        ..desc
    };
    [
        deferred(NoopDesc::default()),
        deferred(NoopDesc::with(|device| {
            device.lacks("VK_EXT_swapchain_maintenance1");
        })),
    ]
}

#[test]
fn each_failure_is_survived_a_hundred_times() {
    let results = [
        vk::Result::ERROR_OUT_OF_DATE_KHR,
        vk::Result::SUBOPTIMAL_KHR,
        vk::Result::ERROR_SURFACE_LOST_KHR,
    ];
    for desc in drivers() {
        for function in ["vkAcquireNextImageKHR", "vkQueuePresentKHR"] {
            for result in results {
                let (driver, gpu) = open(desc.clone());
                let mut window = window(&gpu, [640, 480]);
                let surfaces = driver.calls("vkCreateHeadlessSurfaceEXT");
                for round in 0..100 {
                    driver.fail_next(function, result);
                    let shown = draw(&gpu, &mut window).expect("survived");
                    assert!(shown, "{function} {result:?} {round}");
                    // And one that nothing disturbs.
                    assert!(draw(&gpu, &mut window).expect("a plain frame"));
                    assert!(window.rebuilds() > round, "{function} {result:?}");
                }
                let remade = driver.calls("vkCreateHeadlessSurfaceEXT") - surfaces;
                let lost = result == vk::Result::ERROR_SURFACE_LOST_KHR;
                assert_eq!(remade, if lost { 100 } else { 0 }, "{function} {result:?}");
                let living = driver.live(vk::ObjectType::SWAPCHAIN_KHR);
                assert!(living <= 4, "{living} swapchains live");
                end(&driver, gpu, window);
            }
        }
    }
}

#[test]
fn failures_come_at_every_call_of_a_rebuild() {
    for function in [
        "vkGetPhysicalDeviceSurfaceCapabilitiesKHR",
        "vkCreateSwapchainKHR",
    ] {
        for result in [
            vk::Result::ERROR_SURFACE_LOST_KHR,
            vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        ] {
            let (driver, gpu) = open(NoopDesc::default());
            let mut window = window(&gpu, [640, 480]);
            window.resize([320, 200]);
            driver.fail_next(function, result);
            match draw(&gpu, &mut window) {
                Ok(shown) => assert!(shown && result == vk::Result::ERROR_SURFACE_LOST_KHR),
                Err(error) => {
                    assert_eq!(result, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
                    assert!(error.to_string().contains(function), "{error}");
                }
            }
            assert!(draw(&gpu, &mut window).expect("afterwards"));
            end(&driver, gpu, window);
        }
    }
}

#[test]
fn a_device_lost_is_an_error_and_ends_cleanly() {
    for function in ["vkAcquireNextImageKHR", "vkQueuePresentKHR"] {
        let (driver, gpu) = open(NoopDesc::default());
        let mut window = window(&gpu, [640, 480]);
        driver.fail_next(function, vk::Result::ERROR_DEVICE_LOST);
        let error = draw(&gpu, &mut window).expect_err("lost");
        assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
        end(&driver, gpu, window);
    }
}

#[test]
fn a_surface_without_extent_gives_no_image_until_it_has_one() {
    for desc in drivers() {
        let (driver, gpu) = open(desc);
        let mut window = window(&gpu, [640, 480]);
        for _ in 0..50 {
            window.resize([0, 0]);
            assert!(!draw(&gpu, &mut window).expect("minimised"));
            assert_eq!(window.image_size(), None);
            window.resize([1, 1]);
            assert!(draw(&gpu, &mut window).expect("restored"));
            assert_eq!(window.image_size(), Some([1, 1]));
        }
        window.resize([99_999, 3]);
        assert!(draw(&gpu, &mut window).expect("wide"));
        assert_eq!(window.image_size(), Some([16_384, 3]), "clamped");
        end(&driver, gpu, window);
    }
}

#[test]
fn the_number_of_images_keeps_to_the_surface() {
    for (asked, expected) in [(1, 2), (3, 3), (9, 9)] {
        let (driver, gpu) = open(NoopDesc::default());
        let desc = WindowDesc {
            size: [64, 64],
            images: asked,
            ..WindowDesc::default()
        };
        let mut window = Window::headless(&gpu, &desc).expect("window");
        for _ in 0..20 {
            assert!(draw(&gpu, &mut window).expect("frame"));
        }
        let images = driver.live(vk::ObjectType::IMAGE);
        assert_eq!(images, expected, "asked for {asked}");
        end(&driver, gpu, window);
    }
}

#[test]
fn vsync_and_format_are_as_asked_for() {
    let (driver, gpu) = open(NoopDesc::default());
    let desc = WindowDesc {
        size: [64, 64],
        srgb: true,
        ..WindowDesc::default()
    };
    let mut window = Window::headless(&gpu, &desc).expect("window");
    assert_eq!(window.format(), Some(vk::Format::B8G8R8A8_SRGB));
    assert_eq!(window.present_mode(), Some(vk::PresentModeKHR::FIFO));
    window.set_vsync(false);
    assert!(draw(&gpu, &mut window).expect("frame"));
    assert_eq!(window.present_mode(), Some(vk::PresentModeKHR::IMMEDIATE));
    end(&driver, gpu, window);
}

#[test]
fn an_image_is_waited_for_drawn_to_and_handed_over() {
    let (driver, gpu) = open(NoopDesc::default());
    let mut window = window(&gpu, [64, 64]);
    assert!(draw(&gpu, &mut window).expect("frame"));
    let submission = driver.take_submissions().pop().expect("a submission");
    assert_eq!(submission.waits.len(), 1);
    assert_eq!(submission.signals.len(), 2, "timeline and drawn");
    let layouts: Vec<_> = submission
        .buffers
        .iter()
        .flat_map(|buffer| buffer.commands.iter())
        .filter_map(|command| match command {
            Command::PipelineBarrier(dependency) => Some(&dependency.images),
            _ => None,
        })
        .flatten()
        .map(|barrier| (barrier.old_layout, barrier.new_layout))
        .collect();
    use vk::ImageLayout as L;
    assert_eq!(
        layouts,
        [(L::UNDEFINED, L::GENERAL), (L::GENERAL, L::PRESENT_SRC_KHR)]
    );

    // An image that no pass draws to goes straight to presentation.
    let mut frame = gpu.begin_frame().expect("frame");
    assert!(window.acquire(&mut frame).expect("image").is_some());
    let submitted = frame.submit().expect("submitted");
    window.present(&submitted).expect("presented");
    let submission = driver.take_submissions().pop().expect("a submission");
    let commands = &submission.buffers[0].commands;
    assert!(commands.iter().any(|command| matches!(command,
        Command::PipelineBarrier(dependency) if dependency.images[0].old_layout == L::UNDEFINED
            && dependency.images[0].new_layout == L::PRESENT_SRC_KHR)));
    end(&driver, gpu, window);
}

#[test]
fn presenting_is_made_up_for_and_order_is_checked() {
    let (driver, gpu) = open(NoopDesc::default());
    let mut window = window(&gpu, [64, 64]);
    // Never presented by the caller: the next acquire does it.
    for _ in 0..10 {
        let mut frame = gpu.begin_frame().expect("frame");
        assert!(window.acquire(&mut frame).expect("image").is_some());
        frame.submit().expect("submitted");
    }
    let earlier = gpu
        .begin_frame()
        .expect("frame")
        .submit()
        .expect("submitted");
    window.present(&earlier).expect("presented");
    let mut frame = gpu.begin_frame().expect("frame");
    assert!(window.acquire(&mut frame).expect("image").is_some());
    let error = window.present(&earlier).expect_err("not submitted");
    assert!(
        error.to_string().contains("has not been submitted"),
        "{error}"
    );
    frame.submit().expect("submitted");
    end(&driver, gpu, window);
}

#[test]
fn without_surfaces_there_is_no_window() {
    let driver = NoopDriver::new(NoopDesc::default());
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry()).expect("device");
    let refused = Window::headless(&gpu, &WindowDesc::default()).err();
    let error = refused.expect("refused").to_string();
    assert!(error.contains("without surface extensions"), "{error}");
}

#[test]
fn a_real_driver_shows_what_was_drawn_at_every_size() {
    let gpu = testing::gpu_with(&headless());
    let mut window = window(&gpu, [640, 480]);
    let mut random = 12345_u32;
    let mut next = |most: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % most + 1
    };
    for round in 0..200 {
        let size = match round {
            0 => [1, 1],
            1 => [3, 7],
            _ => [next(300), next(200)],
        };
        window.resize(size);
        window.set_vsync(round % 7 != 0);
        if round % 50 == 49 {
            window.lose_surface();
        }
        let mut frame = gpu.begin_frame().expect("frame");
        let image = window
            .acquire(&mut frame)
            .expect("image")
            .expect("an extent");
        assert_eq!(image.size(), [size[0], size[1], 1]);
        let desc = PassDesc {
            name: "clear",
            colors: &[Color {
                texture: image,
                load: Load::Clear([0.0, 1.0, 0.0, 1.0]),
            }],
            accesses: &[(image.id(), Scopes::COLOR_WRITE)],
            ..PassDesc::default()
        };
        frame.pass(&desc, |_| {}).expect("pass");
        let texels = frame.read_back_texture(image, 0).expect("read back");
        let submitted = frame.submit().expect("submitted");
        window.present(&submitted).expect("presented");
        let texels = texels.wait().expect("texels");
        assert_eq!(texels.len() as u32, size[0] * size[1] * 4);
        assert!(
            texels
                .chunks_exact(4)
                .all(|texel| texel == [0, 255, 0, 255])
        );
    }
    assert!(window.rebuilds() >= 150);
}
