//! What people install: the Debian package, and that its program works far from a checkout; manual
//! pages and completions.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn said(command: &mut Command) -> String {
    let ran = command.stdin(Stdio::null()).output().expect("it starts");
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{command:?}: {text}{}", String::from_utf8_lossy(&ran.stderr));
    text
}

/// The package is unpacked, and its program run in an empty folder with an empty environment: every
/// system does something there that needs nothing but the program.
#[test]
fn the_package_works_without_a_checkout() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let made = said(
        Command::new(format!("{ROOT}/scripts/deb.sh"))
            .args([env!("CARGO_BIN_EXE_meanwhile"), "gzip"]),
    );
    let package = Path::new(ROOT).join(made.split(':').next().expect("a path"));
    said(Command::new("dpkg-deb").arg("-x").args([&package, &folder.path().join("root")]));
    let fields = said(Command::new("dpkg-deb").arg("-f").arg(&package));
    assert!(fields.contains("Depends: libc6"), "{fields}");
    said(Command::new("dpkg-deb").arg("-e").args([&package, &folder.path().join("scripts")]));
    assert!(folder.path().join("scripts/prerm").is_file(), "nothing is let go when it is removed");
    let usr = folder.path().join("root/usr");
    let work = folder.path().join("work");
    fs::create_dir(&work).expect("made");
    fs::write(
        work.join("f.c"),
        "int f(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }\n",
    )
    .expect("written");
    let run = |args: &str| {
        let mut command = Command::new(usr.join("bin/meanwhile"));
        command
            .current_dir(&work)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &work)
            .args(args.split(' '));
        said(&mut command)
    };
    run("cipher compile aes-128 --slicing b --arch avx2 -o aes.c --header aes.h");
    said(Command::new("cc").current_dir(&work).args(["-O1", "-mavx2", "-c", "aes.c"]));
    assert!(run("audit f.c --function f --cpu cortex-a53").contains("instructions"));
    run("regwin build -o rw --scheme sp");
    assert!(run("cosched sim a1 --json").contains("\"ok\":true"));
    assert!(run("overlap --help").contains("Compile MPI programs"));
    assert!(usr.join("lib/systemd/system/meanwhile-cosched.service").is_file());
    let unit = fs::read_to_string(usr.join("lib/systemd/system/meanwhile-cosched.service"))
        .expect("it is there");
    assert!(unit.contains("ExecStart=/usr/bin/meanwhile"), "{unit}");
    assert!(usr.join("share/man/man1/meanwhile-regwin-wcet.1.gz").is_file());
    its_documents_hold(&usr, &work);
}

/// Of the unpacked package: no link of a page leads nowhere, and what README tells to run runs in a
/// folder with the examples.
fn its_documents_hold(usr: &Path, work: &Path) {
    let documents = usr.join("share/doc/meanwhile");
    let listed = said(Command::new("find").arg(&documents).args(["-name", "*.md"]));
    let mut n_links = 0;
    for page in listed.lines().map(Path::new) {
        let text = fs::read_to_string(page).expect("a page");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let is_elsewhere = target.is_empty() || target.contains("://") || target.contains(' ');
            n_links += usize::from(!is_elsewhere);
            assert!(
                is_elsewhere || page.parent().expect("a folder").join(target).exists(),
                "{}: {target}",
                page.display()
            );
        }
    }
    assert!(n_links > 100, "{n_links} links");
    said(Command::new("cp").arg("-r").args([&documents.join("examples"), work]));
    let text = fs::read_to_string(documents.join("README.md")).expect("it is there");
    let lines = text.lines().filter_map(|line| {
        line.strip_prefix("$ ").or(Some(line)).filter(|line| line.starts_with("meanwhile "))
    });
    let path =
        format!("{}:{}", usr.join("bin").display(), std::env::var("PATH").expect("there is one"));
    let mut n_ran = 0;
    for line in lines {
        if line.contains(" overlap ") && measure::tool::find("mpicc.openmpi").is_none() {
            continue;
        }
        fs::create_dir_all(work.join("out")).expect("made");
        said(Command::new("sh").args(["-ec", line]).current_dir(work).env("PATH", &path));
        n_ran += 1;
    }
    assert!(n_ran >= 4, "{n_ran} commands");
}

/// The wheel of this program is installed by pip, without a network, and its program works.
#[test]
fn pip_installs_the_wheel() {
    let python = ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        let ran = Command::new(python).args(["-c", "import wheel, venv, ensurepip"]).output();
        ran.is_ok_and(|ran| ran.status.success())
    });
    let Some(python) = python else {
        testkit::skipped("install: no Python with venv and wheel");
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name);
    let program = at("meanwhile");
    said(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_meanwhile")));
    let made = said(
        Command::new(format!("{ROOT}/scripts/wheel.sh"))
            .arg(&program)
            .arg(std::env::consts::ARCH)
            .arg(folder.path()),
    );
    let wheel = made.split(':').next().expect("a path");
    said(Command::new(python).args(["-m", "venv"]).arg(at("home")));
    let pip = ["-m", "pip", "install", "--no-index", "--quiet", wheel];
    said(Command::new(at("home/bin/python")).args(pip));
    let run = |args: &[&str]| {
        let mut command = Command::new(at("home/bin/meanwhile"));
        said(command.current_dir(folder.path()).env_clear().env("PATH", "/usr/bin:/bin").args(args))
    };
    assert!(run(&["--version"]).starts_with("meanwhile "));
    assert!(run(&["demo", "audit"]).contains("lower bound"));
    let list = said(Command::new(at("home/bin/python")).args(["-m", "pip", "list"]));
    assert!(list.contains("meanwhile"), "{list}");
}

/// Every command that its help names has a page, with its options.
#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let meanwhile = || Command::new(env!("CARGO_BIN_EXE_meanwhile"));
    let answer = said(meanwhile().args(["man", "--json"]).arg(folder.path().join("new/man1")));
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("an object");
    let files: Vec<&str> = answer["files"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|value| value.as_str())
        .collect();
    assert!(files.len() > 35, "{files:?}");
    for (path, file) in
        [("", "meanwhile.1"), ("regwin", "meanwhile-regwin.1"), ("cipher", "meanwhile-cipher.1")]
    {
        let help = said(meanwhile().args(path.split_whitespace()).arg("--help"));
        let names = help
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| !line.is_empty());
        // What a description goes on with is indented further.
        let names = names.filter(|line| !line.starts_with("   "));
        for name in
            names.filter_map(|name| name.split_whitespace().next()).filter(|it| *it != "help")
        {
            let page = format!("{}-{name}.1", file.trim_end_matches(".1"));
            assert!(files.contains(&page.as_str()), "{page} is missing: {files:?}");
        }
    }
    let page = fs::read_to_string(folder.path().join("new/man1/meanwhile-cipher-compile.1"))
        .expect("it is there");
    assert!(
        page.contains(".TH meanwhile-cipher-compile 1") && page.contains("\\-\\-slicing"),
        "{page}"
    );
}

/// In bash itself: what it offers after a command, and after an option with a list of values.
#[test]
fn bash_completes_commands_and_options() {
    let script = r#"
source <("$0" completions bash)
words() { COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _meanwhile meanwhile "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; echo "${COMPREPLY[*]}"; }
words meanwhile reg
words meanwhile regwin wc
words meanwhile cipher compile --sli
"#;
    let text = said(Command::new("bash").args(["-c", script, env!("CARGO_BIN_EXE_meanwhile")]));
    assert_eq!(text, "regwin\nwcet\n--slicing\n");
}
