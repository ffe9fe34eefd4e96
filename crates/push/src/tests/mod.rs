//! Delivery to receivers that really listen. Pauses are milliseconds here, and nothing is asserted about time.

mod addresses;
mod calls;
mod deployment;
mod endings;
mod leases;
mod order;
mod secrets;
mod support;
mod versions;
