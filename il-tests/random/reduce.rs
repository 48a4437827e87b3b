//! Makes a text that shows a fault smaller: deletes ranges of lines, then simplifies operands, as
//! long as the fault stays.

/// The smallest text found, starting from `text`, for which `faulty` holds.
pub fn reduce(text: &str, faulty: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    loop {
        let before = lines.clone();
        delete_functions(&mut lines, faulty);
        delete_ranges(&mut lines, faulty);
        straighten(&mut lines, faulty);
        simplify(&mut lines, faulty);
        if lines == before {
            return join(&lines);
        }
    }
}

fn join(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// Tries to do without whole functions.
fn delete_functions(lines: &mut Vec<String>, faulty: &mut dyn FnMut(&str) -> bool) {
    let mut at = 0;
    while let Some(start) = (at..lines.len()).find(|&i| lines[i].ends_with('{')) {
        let end = (start..lines.len()).find(|&i| lines[i] == "}").unwrap_or(lines.len() - 1);
        let rest = [&lines[..start], &lines[end + 1..]].concat();
        if faulty(&join(&rest)) {
            *lines = rest;
            at = start;
        } else {
            at = end + 1;
        }
    }
}

/// Deletes runs of lines, long ones first.
fn delete_ranges(lines: &mut Vec<String>, faulty: &mut dyn FnMut(&str) -> bool) {
    let mut length = (lines.len() / 2).max(1);
    loop {
        let mut start = 0;
        while start < lines.len() {
            let end = (start + length).min(lines.len());
            let rest = [&lines[..start], &lines[end..]].concat();
            if faulty(&join(&rest)) {
                *lines = rest;
            } else {
                start += length;
            }
        }
        if length == 1 {
            return;
        }
        length /= 2;
    }
}

/// Makes jumps of branches.
fn straighten(lines: &mut [String], faulty: &mut dyn FnMut(&str) -> bool) {
    for i in 0..lines.len() {
        let targets: Vec<String> = match lines[i].trim().strip_prefix("jnz ") {
            Some(rest) => rest.split(", ").skip(1).map(str::to_owned).collect(),
            None => continue,
        };
        for target in targets {
            attempt(lines, i, format!("\tjmp {target}"), faulty);
        }
    }
}

fn attempt(
    lines: &mut [String],
    i: usize,
    line: String,
    faulty: &mut dyn FnMut(&str) -> bool,
) -> bool {
    let old = std::mem::replace(&mut lines[i], line);
    if old == lines[i] || !faulty(&join(lines)) {
        lines[i] = old;
        return false;
    }
    true
}

/// Replaces operations by copies and operands by small constants; drops arguments of phis.
fn simplify(lines: &mut [String], faulty: &mut dyn FnMut(&str) -> bool) {
    for i in 0..lines.len() {
        let line = lines[i].clone();
        let Some((head, operation)) = line.split_once(" =") else { continue };
        let Some((class, operation)) = operation.split_once(' ') else { continue };
        if let Some(args) = operation.strip_prefix("phi ") {
            let args: Vec<&str> = args.split(", ").collect();
            for skip in 0..args.len() {
                let mut rest = args.clone();
                rest.remove(skip);
                let line = format!("{head} ={class} phi {}", rest.join(", "));
                if attempt(lines, i, line, faulty) {
                    break;
                }
            }
            continue;
        }
        for constant in ["0", "1"] {
            attempt(lines, i, format!("{head} ={class} copy {constant}"), faulty);
        }
        let line = lines[i].clone();
        let Some((op, args)) = operation.split_once(' ') else { continue };
        if line != lines[i] || op == "call" || op.starts_with("alloc") {
            continue;
        }
        let args: Vec<&str> = args.split(", ").collect();
        for k in 0..args.len() {
            let mut simple = args.clone();
            simple[k] = "0";
            attempt(lines, i, format!("{head} ={class} {op} {}", simple.join(", ")), faulty);
        }
    }
}
