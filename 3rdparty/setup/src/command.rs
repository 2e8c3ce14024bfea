//! Starting other programs.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::machine::Machine;

/// Runs a command that writes to this terminal and waits for it; a failure is an error that shows the command.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let status = command.status().map_err(|cause| Error::Start {
        program: command.get_program().to_string_lossy().into_owned(),
        cause,
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        command: text(command),
        status: status.to_string(),
    })
}

/// The command as a person would type it, so without the program's folder.
pub(crate) fn text(command: &Command) -> String {
    let program = command.get_program();
    let name = Path::new(program).file_name().unwrap_or(program);
    let words = [name].into_iter().chain(command.get_args());
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./=:+,@".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// How this person may change the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privilege {
    /// As the administrator already.
    Root,
    /// Through sudo.
    Sudo,
    /// Not at all.
    None,
}

impl Privilege {
    /// Looks without asking anybody for a password yet.
    pub(crate) fn of(machine: &Machine) -> Privilege {
        if user_id().as_deref() == Some("0") {
            Privilege::Root
        } else if machine.has_program("sudo")
            && (std::io::stdin().is_terminal() || sudo_needs_no_password())
        {
            Privilege::Sudo
        } else {
            Privilege::None
        }
    }

    /// A command with these rights.
    pub(crate) fn command(self, program: &str) -> Command {
        match self {
            Privilege::Sudo => {
                let mut command = Command::new("sudo");
                command.arg(program);
                command
            }
            Privilege::Root | Privilege::None => Command::new(program),
        }
    }
}

fn sudo_needs_no_password() -> bool {
    Command::new("sudo")
        .args(["-n", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The user's number, as `id -u` says it.
pub(crate) fn user_id() -> Option<String> {
    id("-u")
}

/// The number of the user's group, as `id -g` says it.
pub(crate) fn group_id() -> Option<String> {
    id("-g")
}

fn id(option: &str) -> Option<String> {
    let output = Command::new("id").arg(option).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/usr/bin/apt-get");
        command.args(["install", "g++", "it's", "", "a b"]);
        assert_eq!(text(&command), r"apt-get install g++ 'it'\''s' '' 'a b'");
        assert_eq!(text(&Privilege::Sudo.command("id")), "sudo id");
        assert_eq!(text(&Privilege::Root.command("id")), "id");
    }

    #[test]
    fn failures_name_the_command() {
        let error = run(Command::new("false").arg("x")).unwrap_err().to_string();
        assert!(
            error.contains("`false x` failed") && error.contains('1'),
            "{error}"
        );
        let error = run(&mut Command::new("no-such-program-here"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("cannot start no-such-program-here"),
            "{error}"
        );
    }
}
