//! Any bytes as a baked interface.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = impel_spirv::unbake(bytes, None, "fuzz");
});
