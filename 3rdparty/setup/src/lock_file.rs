//! The version of a crate in `Cargo.lock`.

/// The version that the lock file's text pins for a crate; `None` if the workspace does not use it.
pub(crate) fn version_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split("[[package]]").find_map(|package| {
        let value = |key: &str| {
            package.lines().find_map(|line| {
                let quoted = line
                    .strip_prefix(key)?
                    .trim_start()
                    .strip_prefix('=')?
                    .trim();
                quoted.strip_prefix('"')?.strip_suffix('"')
            })
        };
        (value("name")? == name).then(|| value("version")).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
version = 4

[[package]]
name = \"shaderc\"
version = \"0.10.1\"
dependencies = [
 \"shaderc-sys\",
]

[[package]]
name = \"shaderc-sys\"
version = \"0.10.2\"
";

    #[test]
    fn finds_the_crate_of_exactly_that_name() {
        assert_eq!(version_of(TEXT, "shaderc-sys"), Some("0.10.2"));
        assert_eq!(version_of(TEXT, "shaderc"), Some("0.10.1"));
        assert_eq!(version_of(TEXT, "shader"), None);
        assert_eq!(version_of("", "shaderc"), None);
    }
}
