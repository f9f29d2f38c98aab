//! What the user chose: the same names on the command line, in MEANWHILE_OVERLAP and in the plugin.

use std::path::PathBuf;

/// Values of one setting, as they are named everywhere.
pub const STRENGTHS: [&str; 3] = ["basic", "extended", "frontier"];
/// Which calls are changed: those that pay, or none, so that polls are all that is inserted.
pub const CONVERSIONS: [&str; 2] = ["auto", "none"];
/// Whether polls are inserted.
pub const PROGRESS: [&str; 3] = ["auto", "on", "off"];
/// Which collectives are converted.
pub const COLLECTIVES: [&str; 2] = ["safe", "off"];
/// What is known about error handlers of the program.
pub const HANDLERS: [&str; 2] = ["any", "never-throw"];
/// What is known about receives from any source.
pub const WILDCARDS: [&str; 3] = ["auto", "maybe", "none"];

/// Smaller payloads stay blocking, unless the user says otherwise; the plugin's default.
pub const MIN_BYTES: u64 = 131_072;

/// Settings of one compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How far windows are widened; one of [`STRENGTHS`].
    pub strength: String,
    pub convert: String,
    pub progress: String,
    pub collectives: String,
    pub handlers: String,
    pub wildcards: String,
    /// Payloads of fewer bytes stay blocking; none for the plugin's default.
    pub min_bytes: Option<u64>,
    /// Windows of fewer weighted instructions stay blocking; none for the plugin's default.
    pub min_weight: Option<u64>,
    /// At most one poll in this many microseconds; none for the plugin's default.
    pub poll_us: Option<u32>,
    /// What a run measured, see [`crate::profile`]; an absolute path.
    pub profile: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            strength: "frontier".to_owned(),
            convert: "auto".to_owned(),
            progress: "auto".to_owned(),
            collectives: "safe".to_owned(),
            handlers: "any".to_owned(),
            wildcards: "auto".to_owned(),
            min_bytes: None,
            min_weight: None,
            poll_us: None,
            profile: None,
        }
    }
}

impl Settings {
    /// As options of `meanwhile overlap cc`: those that have a name of their own, others by `-X`.
    pub fn options(&self) -> Vec<String> {
        let option = |part: &str| match part.split_once('=') {
            Some(("convert" | "min-bytes" | "min-weight" | "profile", _)) => format!("--{part}"),
            _ => format!("-X{part}"),
        };
        self.environment().split(',').map(option).collect()
    }

    /// The value of MEANWHILE_OVERLAP.
    pub fn environment(&self) -> String {
        let mut text = format!(
            "strength={},convert={},progress={},collectives={},handlers={},wildcards={}",
            self.strength,
            self.convert,
            self.progress,
            self.collectives,
            self.handlers,
            self.wildcards
        );
        for (key, value) in [
            ("min-bytes", self.min_bytes),
            ("min-weight", self.min_weight),
            ("poll-us", self.poll_us.map(u64::from)),
        ] {
            if let Some(value) = value {
                text += &format!(",{key}={value}");
            }
        }
        if let Some(path) = &self.profile {
            text += &format!(",profile={}", path.display());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_reads_these_names() {
        let settings = Settings {
            min_bytes: Some(0),
            poll_us: Some(50),
            profile: Some("/a/run".into()),
            ..Settings::default()
        };
        let expected = "strength=frontier,convert=auto,progress=auto,collectives=safe,handlers=any,wildcards=auto,min-bytes=0,poll-us=50,profile=/a/run";
        assert_eq!(settings.environment(), expected);
    }
}
