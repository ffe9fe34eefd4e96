//! The notation of 0.3 over JSON-RPC and in webhooks: objects that say their `kind`, lower-case names, results unwrapped.
//!
//! Inward conversions can fail and name the field as a client of 0.3 knows it; outward ones cannot. What this notation
//! has no place for is left out: the file name and the media type of a part that holds text or data, and tenants.

mod card;
mod names;
mod push;
mod read;
mod request;
mod write;

pub use card::Card;
pub use read::{read_answer, read_event};
pub use request::request;
pub use write::{event, result, task};
