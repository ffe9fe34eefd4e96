//! What a run of pytest came to, read from its JUnit file. Only what pytest writes is understood, no XML in general.

use std::fmt;

/// The tests of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) passed: usize,
    /// Expected failures among them.
    pub(super) skipped: usize,
    /// Module and name of each test that failed, or broke before or after.
    pub(super) failed: Vec<String>,
}

impl Report {
    /// Reads the file. Nothing where it is not what pytest writes.
    pub(super) fn read(xml: &str) -> Option<Self> {
        let mut report = Self {
            passed: 0,
            skipped: 0,
            failed: Vec::new(),
        };
        let (head, cases) = xml.split_once("<testcase ")?;
        let tests: usize = attribute(head, "tests")?.parse().ok()?;
        for case in cases.split("<testcase ") {
            let (tag, _) = case.split_once('>')?;
            let test = format!("{}.{}", attribute(tag, "classname")?, attribute(tag, "name")?);
            if case.contains("<failure ") || case.contains("<error ") {
                // A test that fails and then breaks in its end is there twice.
                if !report.failed.contains(&test) {
                    report.failed.push(test);
                }
            } else if case.contains("<skipped ") {
                report.skipped += 1;
            } else {
                report.passed += 1;
            }
        }
        (report.passed + report.skipped + report.failed.len() == tests).then_some(report)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, failed, skipped) = (self.passed, self.failed.len(), self.skipped);
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

fn attribute<'x>(tag: &'x str, name: &str) -> Option<&'x str> {
    let (_, value) = tag
        .split_once(&format!(" {name}=\""))
        .or_else(|| tag.strip_prefix(&format!("{name}=\"")).map(|value| ("", value)))?;
    value.split_once('"').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::Report;

    const FILE: &str = r#"<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="1" skipped="1" tests="3" time="0.1"><testcase classname="tests.a.TestOne" name="test_good" time="0.1" /><testcase classname="tests.a.TestOne" name="test_bad[a &gt; b]" time="0.1"><failure message="no &lt;testcase">text</failure></testcase><testcase classname="tests.b" name="test_not" time="0.0"><skipped type="pytest.skip" message="why">b.py:1</skipped></testcase></testsuite></testsuites>"#;

    #[test]
    fn tests_are_counted_by_how_they_ended_and_failures_are_named() {
        let report = Report::read(FILE).unwrap();
        assert_eq!((report.passed, report.skipped), (1, 1));
        assert_eq!(report.failed, ["tests.a.TestOne.test_bad[a &gt; b]"]);
        assert_eq!(report.to_string(), "1 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn a_test_that_breaks_before_it_begins_has_failed() {
        let report = Report::read(&FILE.replace("failure ", "error ")).unwrap();
        assert_eq!(report.failed.len(), 1);
    }

    #[test]
    fn a_file_that_is_cut_or_something_else_is_no_report() {
        let cut = &FILE[..FILE.find("test_not").unwrap()];
        for text in ["", "<html>", cut, &FILE.replace("tests=\"3\"", "tests=\"4\"")] {
            assert_eq!(Report::read(text), None, "{text}");
        }
    }
}
