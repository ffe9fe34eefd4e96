//! Links of Markdown files: the file, the folder or the heading that is meant exists in the repository.
//!
//! Addresses on the web are not asked.

use super::Tree;
use crate::Finding;

/// All links of one file that lead nowhere.
pub(super) fn check(path: &str, text: &str, tree: &Tree) -> Vec<Finding> {
    if !path.ends_with(".md") {
        return Vec::new();
    }
    let links =
        prose(text).flat_map(|(number, line)| targets(&line).into_iter().map(move |link| (number, link)));
    links
        .filter_map(|(number, link)| Some(Finding::at(path, number, fault(path, &link, tree)?)))
        .collect()
}

/// The lines outside of code blocks, numbered from 1, with code inside of lines taken out.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        let without_code = || line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        (!in_code && !fence).then(|| (index + 1, without_code()))
    })
}

/// What the links of a line lead to: `[text](target "title")` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let inline = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next());
    let named = line.starts_with('[').then(|| line.split_once("]: ")).flatten();
    inline
        .chain(named.map(|(_, target)| target.trim()))
        .map(str::to_owned)
        .collect()
}

fn fault(from: &str, link: &str, tree: &Tree) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = link
        .split_once('#')
        .map_or((link, None), |(file, heading)| (file, Some(heading)));
    let Some(path) = resolve(from, file) else {
        return Some(format!("link to {link} leaves the repository"));
    };
    let folder = format!("{}/", path.trim_end_matches('/'));
    let exists =
        path.is_empty() || tree.contains_key(&path) || tree.keys().any(|known| known.starts_with(&folder));
    if !exists {
        return Some(format!("link to {link}: there is no {path}"));
    }
    let known = |text: &String| headings(text).any(|known| Some(known.as_str()) == heading);
    let wrong = heading.is_some()
        && tree
            .get(&path)
            .is_some_and(|text| path.ends_with(".md") && !known(text));
    wrong.then(|| format!("link to {link}: {path} has no such heading"))
}

/// The path from the root that a link means, read from the file that it stands in.
fn resolve(from: &str, file: &str) -> Option<String> {
    if file.is_empty() {
        return Some(from.to_owned());
    }
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for step in file.trim_end_matches('/').split('/') {
        match step {
            "." => {}
            ".." => drop(folders.pop()?),
            "" => return None,
            name => folders.push(name),
        }
    }
    Some(folders.join("/"))
}

/// The names under which the headings of a file can be linked to.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(number, _)| slug(text.lines().nth(number - 1).unwrap_or_default()))
}

/// Lower case, blanks as hyphens, other signs left out: as the common viewers do it.
fn slug(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = title
        .chars()
        .filter(|&letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Finding> {
        let other = "# The `map` of crates\n\n```\n# not a heading\n```\n## Second-part, continued\n";
        let mut tree = Tree::from([("crates/README.md".to_owned(), other.to_owned())]);
        tree.insert("deploy/Dockerfile".to_owned(), String::new());
        tree.insert("docs/page.md".to_owned(), text.to_owned());
        check("docs/page.md", text, &tree)
    }

    #[test]
    fn links_to_what_exists_pass() {
        for link in [
            "../crates/README.md",
            "../crates/",
            "../deploy/Dockerfile",
            "../crates/README.md#the-map-of-crates",
            "../crates/README.md#second-part-continued",
            "https://example.com/x#y",
            "mailto:somebody@example.com",
            "./page.md",
            "..",
        ] {
            assert_eq!(found(&format!("see [it]({link} \"title\").\n")), [], "{link}");
            assert_eq!(found(&format!("[it]: {link}\n")), [], "{link}");
        }
        assert_eq!(found("# Here\nsee [above](#here)\n"), []);
    }

    #[test]
    fn links_to_what_does_not_exist_are_refused() {
        for link in [
            "README.md",
            "../crates/README.md#no-such-heading",
            "../crates/README.md#not-a-heading",
            "../crate",
            "../../outside.md",
            "/crates/README.md",
            "#here",
        ] {
            assert_eq!(found(&format!("see [it]({link}).\n")).len(), 1, "{link}");
            assert_eq!(found(&format!("[it]: {link}\n")).len(), 1, "{link}");
        }
    }

    #[test]
    fn every_link_of_a_line_is_followed_and_its_line_named() {
        let findings = found("first\n[a](no.md) and [b](nope.md)\n");
        assert_eq!(
            findings.iter().map(Finding::place).collect::<Vec<_>>(),
            ["docs/page.md:2"; 2]
        );
    }

    #[test]
    fn code_is_not_read_for_links() {
        assert_eq!(found("`[a](no.md)`\n```\n[a](no.md)\n```\n"), []);
    }
}
