//! Black-box tests: a real server, real HTTP, real databases, looked at from outside.

mod bad_input;
mod conduct;
mod first_steps;
mod isolation;
mod kill;
mod load;
mod outage;
mod people;
mod rights;
mod world;
