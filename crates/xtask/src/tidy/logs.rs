//! The messages of log events: lower case and no full stop, so that they read alike behind their fields.

use super::tokens::{Kind, Token, tokens};
use crate::Finding;

/// The macros whose message is looked at.
const MACROS: &[&str] = &["error", "warn", "info", "debug", "trace", "event"];

/// All log messages in one file that are not in the common form.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let tokens = tokens(text);
    let calls = (0..tokens.len()).filter(|&at| is_call(&tokens[at..]));
    let messages = calls.filter_map(|at| message(&tokens[at + 2..]));
    messages
        .filter_map(|(line, text)| Some(Finding::at(path, line, fault(text)?)))
        .collect()
}

fn is_call(tokens: &[Token<'_>]) -> bool {
    let kinds = tokens.iter().map(|token| token.kind).take(3).collect::<Vec<_>>();
    matches!(kinds[..], [Kind::Word(name), Kind::Sign('!'), Kind::Sign('(' | '{' | '[')] if MACROS.contains(&name))
}

/// The first text that is an argument by itself, not the value of a field; the first token is the opening bracket.
fn message<'a>(tokens: &[Token<'a>]) -> Option<(usize, &'a str)> {
    let mut depth = 0_usize;
    let mut before = Kind::Sign('(');
    for token in tokens {
        match token.kind {
            Kind::Sign('(' | '[' | '{') => depth += 1,
            Kind::Sign(')' | ']' | '}') if depth == 1 => return None,
            Kind::Sign(')' | ']' | '}') => depth -= 1,
            Kind::Text(text) if depth == 1 && matches!(before, Kind::Sign('(' | '[' | '{' | ',')) => {
                return Some((token.line, text));
            }
            _ => {}
        }
        before = token.kind;
    }
    None
}

fn fault(message: &str) -> Option<String> {
    let first = message.split_whitespace().next().unwrap_or_default();
    let capitals = first.chars().filter(|letter| letter.is_uppercase()).count();
    if first.starts_with(char::is_uppercase) && capitals == 1 {
        return Some(format!("log message \"{message}\": begin in lower case"));
    }
    message
        .ends_with(['.', '!'])
        .then(|| format!("log message \"{message}\": end without a full stop"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> usize {
        check("a.rs", code).len()
    }

    #[test]
    fn a_message_in_lower_case_without_full_stop_passes() {
        for code in [
            r#"tracing::info!("listening")"#,
            r#"warn!(target: "Audit.", task = %id, name = "Fields may.", "task refused")"#,
            r#"debug!(?error, "TLS handshake failed: {}", "Argument.")"#,
            r#"error!(fields.only = "Yes.")"#,
            r#"info!("gRPC on {address}")"#,
        ] {
            assert_eq!(found(code), 0, "{code}");
        }
    }

    #[test]
    fn a_message_with_a_capital_or_a_full_stop_is_refused() {
        for code in [
            r#"tracing::info!("Listening")"#,
            r#"warn!(task = %id, "task refused.")"#,
            r#"debug!(list = ?[1, 2], cost = price(1, "x"), "A step is done")"#,
            "error!(\n    %error,\n    \"it broke!\",\n)",
            r##"trace!(r#"Raw"#)"##,
            r#"event!(Level::INFO, "Started")"#,
        ] {
            assert_eq!(found(code), 1, "{code}");
        }
    }

    #[test]
    fn the_line_of_the_message_is_named() {
        assert_eq!(
            check("a.rs", "warn!(\n    a,\n    \"Bad\"\n)")[0].place(),
            "a.rs:3"
        );
    }

    #[test]
    fn what_only_looks_like_a_log_event_passes() {
        for code in [
            r#"// info!("Nothing.")"#,
            r#"let x = "info!(\"No.\")";"#,
            r#"println!("Said.")"#,
        ] {
            assert_eq!(found(code), 0, "{code}");
        }
    }
}
