//! What the contract of stores doesn't say: retention, bounds, and that nothing is left behind.
