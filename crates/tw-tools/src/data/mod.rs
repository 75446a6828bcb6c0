//! Tools that reshape data and call what the program can do with it.

mod function_call;
mod json_transform;
