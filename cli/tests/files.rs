//! Files that the user names: what they are stays as it is, and what they hold is the old content
//! or the new.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const COMPILE: &str = "cipher compile rectangle-80 --slicing v --arch avx2";

/// Every command that writes a file the user names, but those that measure for minutes.
const WRITERS: &[&str] = &[
    "cipher compile rectangle-80 --slicing v --arch avx2 -o",
    "cipher compile present-80 --slicing b --arch x86-64 --header",
    "cosched sim a1 --policy rr --svg",
];

fn run(command: &str, folder: &Path) -> Output {
    command_of(command, folder).output().expect("the binary runs")
}

fn command_of(text: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    command.args(text.split(' ')).current_dir(folder).stdin(Stdio::null());
    command
}

/// What the command writes to a new file.
fn written_by(writer: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let ran = run(&format!("{writer} new"), folder.path());
    assert_eq!(ran.status.code(), Some(0), "{writer}: {}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(names(folder.path()), ["new"]);
    let bytes = fs::read(folder.path().join("new")).expect("it was written");
    assert!(!bytes.is_empty());
    bytes
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_link_stays_a_link_and_a_mode_stays_a_mode() {
    for writer in WRITERS {
        let whole = written_by(writer);
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).expect("made");
        fs::write(at("deep/file"), "what was there").expect("written");
        fs::set_permissions(at("deep/file"), fs::Permissions::from_mode(0o600))
            .expect("it is ours");
        symlink("deep/file", at("link")).expect("linked");
        let ran = run(&format!("{writer} link"), folder.path());
        assert_eq!(ran.status.code(), Some(0), "{writer}");
        assert_eq!(
            fs::read_link(at("link")).expect("still a link"),
            Path::new("deep/file"),
            "{writer}"
        );
        let file = fs::metadata(at("deep/file")).expect("there");
        assert_eq!(file.mode() & 0o7777, 0o600, "{writer}");
        assert!(fs::read(at("deep/file")).expect("there") == whole, "{writer}");
        assert_eq!(names(&at("deep")), ["file"], "{writer}");
    }
}

#[test]
fn a_folder_that_is_missing_is_said_in_the_words_of_the_user() {
    for writer in WRITERS {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let ran = run(&format!("{writer} no/new"), folder.path());
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{writer}: {said}");
        assert!(
            said.contains("`write no/new` failed")
                && said.contains("there is no folder no")
                && !said.contains(".part"),
            "{writer}: {said}"
        );
        assert!(names(folder.path()).is_empty(), "{writer}");
    }
}

#[test]
fn both_names_of_a_file_see_the_new_content() {
    for writer in WRITERS {
        let whole = written_by(writer);
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("one"), vec![b'x'; whole.len() + 100]).expect("written");
        fs::hard_link(at("one"), at("other")).expect("linked");
        assert_eq!(run(&format!("{writer} one"), folder.path()).status.code(), Some(0), "{writer}");
        assert!(fs::read(at("other")).expect("there") == whole, "{writer}");
        assert_eq!(names(folder.path()), ["one", "other"], "{writer}");
    }
}

#[test]
fn a_pipe_is_written_to_and_stays() {
    for writer in WRITERS {
        let whole = written_by(writer);
        let folder = tempfile::tempdir().expect("a scratch folder");
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        let child = command_of(&format!("{writer} pipe"), folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.expect("the binary runs");
        let mut read = Vec::new();
        fs::File::open(&pipe).expect("it opens").read_to_end(&mut read).expect("it is read");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{writer}");
        assert!(read == whole, "{writer}");
        assert!(fs::metadata(&pipe).expect("there").file_type().is_fifo(), "{writer}");
    }
}

/// Through a link: if this ever breaks again, it costs the link and not the machine's device.
#[test]
fn a_device_that_is_full_is_an_error_and_stays_a_device() {
    for writer in WRITERS {
        let folder = tempfile::tempdir().expect("a scratch folder");
        symlink("/dev/full", folder.path().join("device")).expect("linked");
        let ran = run(&format!("{writer} device"), folder.path());
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{writer}");
        assert!(said.contains("No space left on device"), "{writer}: {said}");
        assert!(!said.contains("doctor"), "no tool is missing: {said}");
        assert!(
            fs::metadata(folder.path().join("device")).expect("there").file_type().is_char_device(),
            "{writer}"
        );
        assert_eq!(names(folder.path()), ["device"], "{writer}");
    }
}

#[test]
fn the_null_device_takes_everything() {
    for writer in WRITERS {
        let folder = tempfile::tempdir().expect("a scratch folder");
        symlink("/dev/null", folder.path().join("device")).expect("linked");
        assert_eq!(
            run(&format!("{writer} device"), folder.path()).status.code(),
            Some(0),
            "{writer}"
        );
        assert!(
            fs::metadata(folder.path().join("device")).expect("there").file_type().is_char_device(),
            "{writer}"
        );
        assert!(
            fs::symlink_metadata(folder.path().join("device")).expect("there").is_symlink(),
            "{writer}"
        );
    }
}

#[test]
fn standard_output_is_a_file_like_others() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let plain = run(COMPILE, folder.path()).stdout;
    assert_eq!(run(&format!("{COMPILE} -o /dev/stdout"), folder.path()).stdout, plain);
    // Behind a redirection that appends, as in a script that collects.
    let path = folder.path().join("all");
    fs::write(&path, "before\n").expect("written");
    let all = fs::OpenOptions::new().append(true).open(&path).expect("it opens");
    let status = command_of(&format!("{COMPILE} -o /dev/fd/1"), folder.path())
        .stdout(all)
        .status()
        .expect("the binary runs");
    assert_eq!(status.code(), Some(0));
    let read = fs::read(&path).expect("there");
    assert!(read.strip_prefix(b"before\n").is_some_and(|rest| rest == plain));
}

/// A limit of 512 bytes a file stands for a full disk.
#[test]
fn a_failed_write_leaves_the_old_content_and_no_part() {
    for writer in WRITERS {
        let whole = written_by(writer);
        assert!(whole.len() > 512, "{writer} writes too little for this test");
        for has_two_names in [false, true] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            fs::write(folder.path().join("file"), "what was there").expect("written");
            if has_two_names {
                fs::hard_link(folder.path().join("file"), folder.path().join("again"))
                    .expect("linked");
            }
            let before = names(folder.path());
            let script = format!(
                "trap '' XFSZ; ulimit -f 1; exec {} {writer} file",
                env!("CARGO_BIN_EXE_meanwhile")
            );
            let ran = Command::new("sh")
                .args(["-c", &script])
                .current_dir(folder.path())
                .output()
                .expect("sh runs");
            assert_eq!(
                ran.status.code(),
                Some(2),
                "{writer}: {}",
                String::from_utf8_lossy(&ran.stderr)
            );
            assert_eq!(
                fs::read(folder.path().join("file")).expect("there"),
                b"what was there",
                "{writer}"
            );
            assert_eq!(names(folder.path()), before, "{writer}");
        }
    }
}

#[test]
fn a_folder_that_is_missing_or_a_file_is_said_and_nothing_is_made() {
    for writer in WRITERS {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::write(folder.path().join("file"), "x").expect("written");
        for path in ["no/such/new", "file/new", "."] {
            let ran = run(&format!("{writer} {path}"), folder.path());
            assert_eq!(ran.status.code(), Some(2), "{writer} {path}");
            assert!(String::from_utf8_lossy(&ran.stderr).contains(path), "{writer} {path}");
            assert_eq!(names(folder.path()), ["file"], "{writer} {path}");
        }
    }
}

/// Two names of one file are one file, and a device has none beside it.
#[test]
fn an_assembly_file_takes_no_other_file_and_lies_beside_no_device() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let compile = "cipher compile rectangle-80 --slicing v --arch avx2 --emit asm -X budget=0";
    for (args, words) in [
        ("-o r.c --header ./r.s", "would be overwritten"),
        ("-o x.c --header ../x/x.c", "would be overwritten"),
        ("-o /dev/null", "two files do not fit one output"),
    ] {
        fs::create_dir_all(folder.path().join("x")).expect("made");
        let ran = run(&format!("{compile} {args}"), &folder.path().join("x"));
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((ran.status.code(), said.contains(words)), (Some(1), true), "{args}: {said}");
        assert_eq!(names(&folder.path().join("x")), Vec::<String>::new(), "{args}");
    }
    assert!(!Path::new("/dev/null.s").exists());
}
