//! Door: writes a folder with the runtime as a library, and builds the library there.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use measure::tool::{self, ToolError};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, SectionKind};

use crate::library::{self, MARK, Options};
use crate::names::{Cc, Target};
use crate::xtensa;

const MAKE_LIMIT: Duration = Duration::from_secs(300);

/// Bytes of a library: what it takes in a program that uses all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Instructions and the trap table.
    pub code: u64,
    /// Of these, the trap table or tables.
    pub trap_tables: u64,
    pub constants: u64,
    /// Variables and the stacks of main, idle thread and interrupts.
    pub data: u64,
}

/// What is in the way of writing into a folder: it has files and no `regwin.mk` of ours.
pub fn is_foreign(folder: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(folder) else { return folder.exists() };
    let ours =
        std::fs::read_to_string(folder.join("regwin.mk")).is_ok_and(|text| text.starts_with(MARK));
    entries.next().is_some() && !ours
}

/// Writes the folder and makes the library; the paths of the files, from the folder. For Xtensa
/// there is one compiler.
pub fn write(
    target: Target,
    options: &Options,
    cc: Cc,
    folder: &Path,
) -> Result<Vec<String>, ToolError> {
    let failed = |path: &Path, error: std::io::Error| ToolError {
        ran: format!("write {}", path.display()),
        said: error.to_string(),
    };
    let mut paths = Vec::new();
    let files = match target {
        Target::Sparc => library::folder(options, cc),
        Target::Xtensa => xtensa::folder(options),
    };
    for (name, text) in files {
        let path = folder.join(&name);
        let parent = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        measure::file::write(&path, text.as_bytes()).map_err(|error| failed(&path, error))?;
        paths.push(name);
    }
    let mut make = Command::new("make");
    make.current_dir(folder).args(["-s", "-B", "lib"]);
    tool::run(&mut make, b"", MAKE_LIMIT)?.ok()?;
    paths.push(library_name(options));
    Ok(paths)
}

/// Where the library is in its folder.
pub fn library_name(options: &Options) -> String {
    format!("lib/librw-{}.a", options.scheme.name())
}

/// The bytes of a library.
pub fn footprint(path: &Path) -> Result<Footprint, ToolError> {
    let failed = |said: String| ToolError { ran: format!("read {}", path.display()), said };
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let archive =
        ArchiveFile::parse(bytes.as_slice()).map_err(|error| failed(error.to_string()))?;
    let mut footprint = Footprint::default();
    for member in archive.members() {
        let data = member
            .and_then(|member| member.data(bytes.as_slice()))
            .map_err(|error| failed(error.to_string()))?;
        let file = object::File::parse(data).map_err(|error| failed(error.to_string()))?;
        for section in file.sections() {
            match section.kind() {
                _ if section.name() == Ok(".offsets") => {}
                SectionKind::Text => {
                    footprint.code += section.size();
                    let is_table = matches!(section.name(), Ok(".text.traps" | ".vectors"));
                    footprint.trap_tables += if is_table { section.size() } else { 0 };
                }
                SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => {
                    footprint.constants += section.size()
                }
                SectionKind::Data | SectionKind::UninitializedData => {
                    footprint.data += section.size()
                }
                _ => {}
            }
        }
    }
    Ok(footprint)
}
