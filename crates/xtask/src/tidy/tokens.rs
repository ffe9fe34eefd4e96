//! Rust cut into words, signs and texts, with comments left out: enough to find a macro call and its arguments.
//!
//! Numbers come out as words. It doesn't notice code that doesn't compile.

/// A piece of code and the line it begins on, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) line: usize,
    pub(super) kind: Kind<'a>,
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A name, keyword or number.
    Word(&'a str),
    /// What stands between the quotes of a text, with its escapes as written.
    Text(&'a str),
    /// Any other character.
    Sign(char),
}

/// Cuts a file's text.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { rest: text, line: 1 };
    std::iter::from_fn(|| lexer.next()).collect()
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_gaps();
        let line = self.line;
        let first = self.rest.chars().next()?;
        let kind = match first {
            '"' => Kind::Text(self.text(0, true)),
            '\'' => self.quote(),
            _ if is_word(first) => self.word(),
            _ => Kind::Sign(self.take_sign(first)),
        };
        Some(Token { line, kind })
    }

    /// Blanks and comments.
    fn skip_gaps(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            let comment = match &self.rest[blanks..] {
                rest if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                rest if rest.starts_with("/*") => block_comment(rest),
                _ => 0,
            };
            self.take(blanks + comment);
            if comment == 0 {
                return;
            }
        }
    }

    /// A name or number; or a text with a prefix such as `br#`.
    fn word(&mut self) -> Kind<'a> {
        let length = self.rest.find(|next| !is_word(next)).unwrap_or(self.rest.len());
        let word = self.take(length);
        if !matches!(word, "r" | "b" | "c" | "br" | "cr") {
            return Kind::Word(word);
        }
        let hashes = self.rest.len() - self.rest.trim_start_matches('#').len();
        if !self.rest[hashes..].starts_with('"') {
            return Kind::Word(word);
        }
        self.take(hashes);
        Kind::Text(self.text(hashes, !word.ends_with('r')))
    }

    /// From the opening quote to the closing one and its hashes; gives what is between the quotes.
    fn text(&mut self, hashes: usize, escapes: bool) -> &'a str {
        self.take(1);
        let closing = format!("\"{}", "#".repeat(hashes));
        let mut escaped = false;
        let end = self.rest.char_indices().find_map(|(at, next)| {
            let closes = !escaped && self.rest[at..].starts_with(&closing);
            escaped = escapes && next == '\\' && !escaped;
            closes.then_some(at)
        });
        let inside = self.take(end.unwrap_or(self.rest.len()));
        self.take(closing.len());
        inside
    }

    /// A character in quotes counts as a sign, and so does the quote of a lifetime.
    fn quote(&mut self) -> Kind<'a> {
        let mut inside = self.rest[1..].chars();
        let (first, second) = (inside.next(), inside.next());
        let length = match (first, second) {
            (Some('\\'), Some(escaped)) => {
                let escape = 2 + escaped.len_utf8();
                escape + self.rest[escape..].find('\'').map_or(0, |at| at + 1)
            }
            (Some(letter), Some('\'')) => letter.len_utf8() + 2,
            _ => 1,
        };
        self.take(length);
        Kind::Sign('\'')
    }

    fn take_sign(&mut self, sign: char) -> char {
        self.take(sign.len_utf8());
        sign
    }

    /// Moves on by so many bytes, or to the end.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The length of a block comment; such comments nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(found) = text[at..].find(['/', '*']) {
        at += found;
        match text.get(at..at + 2) {
            Some("/*") => depth += 1,
            Some("*/") if depth == 1 => return at + 2,
            Some("*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(code: &str) -> Vec<Kind<'_>> {
        tokens(code).into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn a_call_is_words_signs_and_texts() {
        use Kind::{Sign, Text, Word};
        let expected = [
            Word("f"),
            Sign('('),
            Text("a \\\" b"),
            Sign(','),
            Word("x_1"),
            Sign(')'),
        ];
        assert_eq!(kinds(r#"f("a \" b", x_1)"#), expected);
    }

    #[test]
    fn comments_are_left_out_and_nest() {
        assert_eq!(
            kinds("a // \"no\"\n/* b /* c */ \" */ d"),
            [Kind::Word("a"), Kind::Word("d")]
        );
    }

    #[test]
    fn texts_with_prefixes_end_where_their_hashes_do() {
        assert_eq!(
            kinds(r###"r#"a"b"# br"c\" b"d""###),
            [Kind::Text(r#"a"b"#), Kind::Text(r"c\"), Kind::Text("d")]
        );
        assert_eq!(
            kinds("r#type"),
            [Kind::Word("r"), Kind::Sign('#'), Kind::Word("type")]
        );
    }

    #[test]
    fn a_quoted_character_does_not_begin_a_text() {
        for code in [r#"'"' x"#, r"'\'' x", r"'\\' x", r"'\u{1F600}' x"] {
            assert_eq!(kinds(code), [Kind::Sign('\''), Kind::Word("x")], "{code}");
        }
        assert_eq!(
            kinds("&'a x"),
            [
                Kind::Sign('&'),
                Kind::Sign('\''),
                Kind::Word("a"),
                Kind::Word("x")
            ]
        );
    }

    #[test]
    fn lines_are_counted_through_texts_and_comments() {
        let lines = tokens("a /* \n */ \"\n\" b\nc")
            .into_iter()
            .map(|token| token.line)
            .collect::<Vec<_>>();
        assert_eq!(lines, [1, 2, 3, 4]);
    }
}
