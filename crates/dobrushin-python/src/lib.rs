//! The compiled part of the Python package `dobrushin`: one core, said in Python.
//!
//! `python/dobrushin` wraps what is here in typed classes, so everything here takes and gives plain values: a run file,
//! numbers, arrays, and reports as JSON with the text that people read. Every error is one of `dobrushin.errors`, work
//! that may take long runs without the interpreter's lock and can be interrupted, and no panic reaches Python.

mod account;
mod answers;
mod arrays;
mod audit;
mod chains;
mod channel;
mod charge;
mod convert;
mod divergences;
mod errors;
mod forget;
mod frame;
mod ledger;
mod local;
mod people;
mod questions;
mod run_file;
mod schema;
mod train;
mod work;

use pyo3::prelude::*;
use std::ffi::OsString;
use std::process::ExitCode;

#[pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    use super::program;
    #[pymodule_export]
    use crate::account::{Answer, account};
    #[pymodule_export]
    use crate::audit::{Claim, claim, worst_case};
    #[pymodule_export]
    use crate::chains::chains;
    #[pymodule_export]
    use crate::channel::FiniteChannel;
    #[pymodule_export]
    use crate::divergences::{
        Laws, contraction, divergence, hockey_stick, renyi, smallest_epsilon, theta_of,
    };
    #[pymodule_export]
    use crate::forget::{forget, state_of};
    #[pymodule_export]
    use crate::ledger::{
        ledger_budget, ledger_change, ledger_check, ledger_init, ledger_people, ledger_person,
        ledger_reserve, ledger_show, ledger_terms,
    };
    #[pymodule_export]
    use crate::local::{LocalMechanism, local_bounds, local_plan};
    #[pymodule_export]
    use crate::questions::{calibrate, certificate_text, curve, explain, plan, total, verify};
    #[pymodule_export]
    use crate::run_file::RunFile;
    #[pymodule_export]
    use crate::schema::Schema;
    #[pymodule_export]
    use crate::train::{Model, save_model, train};

    /// The version of the program.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Does what the words ask for, as the program does, and returns its exit code. The first word is the program's name.
#[pyfunction]
fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    let code = py.detach(|| dobrushin_cli::answer(words));
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(u8::MAX)
}
