//! Tables and properties of the rules.
