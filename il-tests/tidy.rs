//! Tests of the project's own shape: file sizes, layering, and papers that are where they belong.

use backend::ir::Op;
use backend::pipeline::PASSES;
use std::fs;
use std::path::{Path, PathBuf};

/// The floors of src, from the ground up. A file uses only its own floor and those under it.
const FLOORS: &[&str] = &[
    "error", "index", "ir", "parse", "analysis", "interp", "target", "opt", "regalloc", "out",
    "options", "pipeline", "compile",
];

/// The most lines a source file may have.
const LINES: usize = 1000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files under a folder with this ending.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).expect("a file can be read")).into_owned()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn files_are_short() {
    let mut faults = Vec::new();
    for file in ["src", "il-tests", "golden"].iter().flat_map(|f| files(f, "rs")) {
        let lines = read(&file).lines().count();
        if lines > LINES {
            faults.push(format!("{}: {lines} lines, {LINES} allowed", shown(&file)));
        }
    }
    report(&faults);
}

/// The names of this crate's modules that a file mentions in paths: `crate::x`, `crate::{x, y}`.
fn uses(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let word = |s: &str| -> String {
            s.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':').collect()
        };
        match rest.strip_prefix('{') {
            None => names.push(word(rest)),
            Some(list) => {
                let list = list.split('}').next().unwrap_or_default();
                names.extend(list.split(',').map(|n| word(n.trim_start())));
            }
        }
    }
    names.retain(|n| !n.is_empty());
    names
}

#[test]
fn layers_hold() {
    let floor = |name: &str| FLOORS.iter().position(|f| *f == name);
    let mut faults = Vec::new();
    for file in files("src", "rs") {
        let path = shown(&file).trim_start_matches("src/").trim_end_matches(".rs").to_string();
        let parts: Vec<&str> = path.split('/').collect();
        if ["lib", "main", "arguments", "write"].contains(&parts[0]) {
            continue;
        }
        let Some(own) = floor(parts[0]) else {
            faults.push(format!("src/{path}.rs: on no floor of il-tests/tidy.rs"));
            continue;
        };
        let text = read(&file);
        // Unit tests may look up and down.
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for name in uses(text) {
            let words: Vec<&str> = name.split("::").collect();
            let above = floor(words[0]).is_some_and(|f| f > own);
            // Shared code knows no target by name, and targets do not know each other.
            let target = words[0] == "target"
                && words.get(1).is_some_and(|w| ["amd64", "arm64", "rv64"].contains(w))
                && (parts[0] != "target" || parts.get(1).copied() != words.get(1).copied());
            if above || target {
                faults.push(format!("src/{path}.rs uses {name}"));
            }
        }
    }
    report(&faults);
}

#[test]
fn passes_have_papers() {
    let mut faults = Vec::new();
    for pass in PASSES {
        let page = format!("docs/passes/{}.md", pass.name);
        if !root().join(&page).exists() {
            faults.push(format!("{page} is missing"));
        }
        let folder = format!("golden/passes/{}", pass.name);
        if files(&folder, "ssa").is_empty() {
            faults.push(format!("{folder} holds no test"));
        }
    }
    report(&faults);
}

#[test]
fn ops_are_documented() {
    let page = read(&root().join("docs/IL.md"));
    let words: Vec<&str> = page.split(|c: char| !c.is_alphanumeric()).collect();
    let missing = Op::ALL.iter().filter(|op| !words.contains(&op.name()));
    report(&missing.map(|op| format!("docs/IL.md: no word of {}", op.name())).collect::<Vec<_>>());
}

/// Pages of the project and what they link to.
#[test]
fn links_lead_somewhere() {
    let mut pages = files("docs", "md");
    pages.push(root().join("README.md"));
    let mut faults = Vec::new();
    for page in pages {
        let text = read(&page);
        for (at, _) in text.match_indices("](") {
            let link = text[at + 2..].split(')').next().unwrap_or_default();
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            if !page.parent().unwrap_or(root()).join(file).exists() {
                faults.push(format!("{}: {link} is not there", shown(&page)));
            }
        }
    }
    report(&faults);
}

#[test]
fn no_leftovers_in_sources() {
    let words = ["todo!(", "unimplemented!(", "dbg!(", "FIXME", "XXX"];
    let mut faults = Vec::new();
    for file in files("src", "rs") {
        for (number, line) in read(&file).lines().enumerate() {
            if let Some(word) = words.iter().find(|w| line.contains(**w)) {
                faults.push(format!("{}:{}: {word}", shown(&file), number + 1));
            }
        }
    }
    report(&faults);
}
