//! The command line.

use std::path::PathBuf;

use crate::error::Error;

/// What `--help` prints.
pub(crate) const USAGE: &str = "\
Looks for the native parts that Impel needs, installs what is missing, then runs the demo or the tests.

  cargo demo   [--no-install] [-- OPTION..]            the demo; each OPTION goes to `scenes run cloud`
  cargo verify [--no-install] [--no-newer-layer]       every check and test

  --no-install       only report what is missing and how it would be installed
  --no-newer-layer   leave out the GPU tests in a Debian 13 root with its newer validation layer
";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Print the usage.
    Help,
    /// Run the demo.
    Demo(DemoOptions),
    /// Run every check and test.
    Verify(VerifyOptions),
    /// Run one test program inside the newer root; cargo calls setup so, nobody types it.
    InNewerRoot(TestProgram),
}

/// Options of `demo`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DemoOptions {
    /// Whether missing parts may be installed.
    pub(crate) no_install: bool,
    /// Passed on to `scenes run cloud`.
    pub(crate) scene_arguments: Vec<String>,
}

/// Options of `verify`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct VerifyOptions {
    /// Whether missing parts may be installed.
    pub(crate) no_install: bool,
    /// Whether the run in the Debian 13 root is left out.
    pub(crate) no_newer_layer: bool,
}

/// One test program and where it shall run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestProgram {
    /// Root folder of the other Debian.
    pub(crate) root: PathBuf,
    /// The test executable.
    pub(crate) executable: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
}

/// Reads the arguments (without the program's name).
pub(crate) fn parse(arguments: &[String]) -> Result<Action, Error> {
    let Some((action, rest)) = arguments.split_first() else {
        return Err(Error::Usage(
            "expected `demo` or `verify`, found nothing".into(),
        ));
    };
    match action.as_str() {
        "help" | "--help" | "-h" => Ok(Action::Help),
        "demo" => parse_demo(rest),
        "verify" => parse_verify(rest),
        "in-newer-root" => match rest {
            [root, executable, arguments @ ..] => Ok(Action::InNewerRoot(TestProgram {
                root: root.into(),
                executable: executable.into(),
                arguments: arguments.to_vec(),
            })),
            _ => Err(Error::Usage(
                "in-newer-root: expected a root folder and a program".into(),
            )),
        },
        other => Err(Error::Usage(format!(
            "expected `demo` or `verify`, found `{other}`"
        ))),
    }
}

fn parse_demo(arguments: &[String]) -> Result<Action, Error> {
    let mut options = DemoOptions::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Action::Help),
            "--no-install" => options.no_install = true,
            "--" => options.scene_arguments = rest.by_ref().cloned().collect(),
            other => {
                return Err(Error::Usage(format!(
                    "demo: unknown option `{other}`; options of the scene go after `--`, as in `cargo demo -- {other}`"
                )));
            }
        }
    }
    Ok(Action::Demo(options))
}

fn parse_verify(arguments: &[String]) -> Result<Action, Error> {
    let mut options = VerifyOptions::default();
    for argument in arguments {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Action::Help),
            "--no-install" => options.no_install = true,
            "--no-newer-layer" => options.no_newer_layer = true,
            other => return Err(Error::Usage(format!("verify: unknown option `{other}`"))),
        }
    }
    Ok(Action::Verify(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Action, Error> {
        let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&arguments)
    }

    #[test]
    fn demo_takes_its_own_options_then_the_scenes() {
        let expected = DemoOptions {
            no_install: true,
            scene_arguments: vec!["--mesh".into(), "a.glb".into(), "--no-install".into()],
        };
        assert_eq!(
            parse_line("demo --no-install -- --mesh a.glb --no-install").unwrap(),
            Action::Demo(expected)
        );
        assert_eq!(
            parse_line("demo").unwrap(),
            Action::Demo(DemoOptions::default())
        );
        assert_eq!(
            parse_line("demo --").unwrap(),
            Action::Demo(DemoOptions::default())
        );
    }

    #[test]
    fn a_scene_option_without_the_dashes_says_where_it_belongs() {
        let error = parse_line("demo --frames 3").unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(
            error.to_string().contains("cargo demo -- --frames"),
            "{error}"
        );
    }

    #[test]
    fn verify_takes_its_two_options() {
        let both = VerifyOptions {
            no_install: true,
            no_newer_layer: true,
        };
        assert_eq!(
            parse_line("verify --no-newer-layer --no-install").unwrap(),
            Action::Verify(both)
        );
        assert!(parse_line("verify --quick").is_err());
        assert!(parse_line("verify --").is_err());
    }

    #[test]
    fn help_and_nonsense() {
        for line in ["--help", "help", "demo --help", "verify -h"] {
            assert_eq!(parse_line(line).unwrap(), Action::Help, "{line}");
        }
        for line in ["", "test", "in-newer-root", "in-newer-root /root"] {
            assert_eq!(parse_line(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn the_runner_form_keeps_the_tests_arguments() {
        let Action::InNewerRoot(test) = parse_line("in-newer-root /r /t/x --nocapture").unwrap()
        else {
            panic!("not the runner form");
        };
        assert_eq!(test.root, PathBuf::from("/r"));
        assert_eq!(test.executable, PathBuf::from("/t/x"));
        assert_eq!(test.arguments, ["--nocapture"]);
    }
}
