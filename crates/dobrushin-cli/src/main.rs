//! The `dobrushin` program.

use std::process::ExitCode;

/// Composing losses allocates and frees megabytes, which some systems' allocators return to the system each time.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    dobrushin_cli::main()
}
