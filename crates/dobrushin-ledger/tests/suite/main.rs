//! The tests of this crate in one program: what every store must do, and what each must survive.

mod claims;
mod crowd;
mod damage;
mod people;
mod server;
