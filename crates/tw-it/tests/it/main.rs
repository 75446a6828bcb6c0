//! Black-box tests: a real server, real HTTP, real databases, looked at from outside.

mod first_steps;
mod world;
