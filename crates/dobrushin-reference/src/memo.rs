//! Values computed once per thread.

use astro_float::Consts;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

/// A table filled on demand, meant to be a thread-local variable.
pub(crate) struct Memo<K, V>(RefCell<HashMap<K, Rc<V>>>);

impl<K: Eq + Hash, V> Memo<K, V> {
    /// The empty table.
    pub(crate) fn new() -> Self {
        Self(RefCell::new(HashMap::new()))
    }

    /// The entry for `key`, made by `build` the first time it is asked for.
    ///
    /// The table is not borrowed while `build` runs, so `build` may consult the table itself.
    pub(crate) fn get(&self, key: K, build: impl FnOnce() -> V) -> Rc<V> {
        if let Some(found) = self.0.borrow().get(&key) {
            return Rc::clone(found);
        }
        let made = Rc::new(build());
        self.0.borrow_mut().insert(key, Rc::clone(&made));
        made
    }
}

thread_local! {
    static CONSTS: RefCell<Consts> = RefCell::new(
        // The constructor fails only when a few hundred bytes cannot be allocated.
        Consts::new().expect("memory for the cache of constants"),
    );
}

/// Lends the thread's cache of constants.
pub(crate) fn with_consts<T>(f: impl FnOnce(&mut Consts) -> T) -> T {
    CONSTS.with(|consts| f(&mut consts.borrow_mut()))
}
