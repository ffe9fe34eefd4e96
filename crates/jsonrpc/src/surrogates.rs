//! Halves of surrogate pairs in the escapes of a JSON text. Its readers mind them only in strings that they decode;
//! a text with one is refused wherever it stands, so that no layer sees what another has passed over.

/// Whether `\ud800` … `\udfff` stands anywhere without its other half.
pub(crate) fn unpaired(json: &str) -> bool {
    let mut rest = json;
    while let Some((_, escape)) = rest.split_once('\\') {
        rest = match code_unit(escape) {
            Some((0xD800..=0xDBFF, after)) => match after.strip_prefix('\\').and_then(code_unit) {
                Some((0xDC00..=0xDFFF, after)) => after,
                _ => return true,
            },
            Some((0xDC00..=0xDFFF, _)) => return true,
            Some((_, after)) => after,
            // The escaped sign may be a backslash itself.
            None => escape.strip_prefix('\\').unwrap_or(escape),
        };
    }
    false
}

/// What `uXXXX` after a backslash stands for, and what follows it.
fn code_unit(escape: &str) -> Option<(u16, &str)> {
    let (digits, after) = escape.strip_prefix('u')?.split_at_checked(4)?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    Some((unit, after))
}

#[cfg(test)]
mod tests {
    use super::unpaired;

    #[test]
    fn only_halves_without_their_other_half_are_found() {
        for (json, found) in [
            (r#""\ud83d\ude00""#, false),
            (r#""\uD83D\uDE00""#, false),
            (r#""\u00fc\n\\ud800""#, false),
            (r#""\\\\ud800""#, false),
            (r#""\ud800""#, true),
            (r#""\uDFFF""#, true),
            (r#""\ud800\ud800\udc00""#, true),
            (r#""\ud800\n""#, true),
            (r#""\ud800x\udc00""#, true),
            (r#""\\\ud800""#, true),
            (r#""\ud8"#, false),
            (r#""\uü12"#, false),
            ("\\", false),
        ] {
            assert_eq!(unpaired(json), found, "{json}");
        }
    }
}
