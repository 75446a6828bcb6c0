//! Tools about dates and times.

mod datetime_utils;
mod moment;
