//! The `dobrushin` program.

use std::process::ExitCode;

/// Adding up losses takes and gives back megabytes; the system's allocator returns them to the
/// system each time, which costs a fifth of the time.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    dobrushin_cli::main()
}
