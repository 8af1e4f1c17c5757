//! What WebAssembly exports: memory for a request, and a function that answers it.
//!
//! The host calls [`reserve`] for the length of its request, writes the request (JSON in UTF-8) there, calls [`ask`] with the
//! same length, and reads as many bytes as it returns at [`answer`]. A call that traps leaves the message of the panic at
//! [`answer`], with its length in [`answered`]; the instance must not be used again after that.
#![allow(unsafe_code)] // The attribute that exports a function; every line below is safe.

use std::cell::RefCell;
use std::panic;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for a request of this many bytes, and tells where.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(length, 0);
        request.as_mut_ptr()
    })
}

/// Answers the request, and tells how long the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn ask(length: usize) -> usize {
    panic::set_hook(Box::new(|info| keep(info.to_string())));
    let request = REQUEST.take();
    let request = String::from_utf8_lossy(request.get(..length).unwrap_or(&request)).into_owned();
    keep(crate::answer(&request));
    answered()
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// How long the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answered() -> usize {
    ANSWER.with_borrow(String::len)
}

fn keep(answer: String) {
    ANSWER.set(answer);
}
