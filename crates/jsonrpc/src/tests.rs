//! The binding over a gateway that the test controls.
