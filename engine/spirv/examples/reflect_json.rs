//! Prints the interface of a module as JSON: `cargo run -p impel-spirv --example reflect_json -- FILE.spv`.

use std::process::ExitCode;

use impel_spirv::{MissingBindings, Options, reflect_with, to_json};

fn main() -> ExitCode {
    let mut failed = false;
    for file in std::env::args().skip(1) {
        let outcome = std::fs::read(&file)
            .map_err(|error| error.to_string())
            .and_then(|bytes| {
                reflect_with(
                    &bytes,
                    &Options {
                        missing_bindings: MissingBindings::Keep,
                    },
                )
                .map_err(|error| error.in_file(&file).to_string())
            });
        match outcome {
            Ok(interface) => println!("{:#}", to_json(&interface, &file)),
            Err(error) => {
                eprintln!("error: {error}");
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}
