//! A puffin scope around the recording of each pass.

use crate::pass::PassName;
use puffin::{GlobalProfiler, ScopeDetails, ScopeId, ThreadProfiler};
use std::collections::HashMap;

/// The scopes of passes by name, and the one that is open.
#[derive(Default)]
pub(crate) struct PassScopes {
    ids: HashMap<Box<str>, ScopeId>,
    /// Where puffin notes the scope's size when it ends.
    open: Option<usize>,
}

impl PassScopes {
    /// Begins the scope of a pass; a name is registered when it first comes.
    #[inline(never)]
    pub(crate) fn begin(&mut self, name: &str) {
        let name = PassName::cut(name);
        let id = match self.ids.get(name) {
            Some(id) => *id,
            None => {
                let Some(id) = register(name) else { return };
                self.ids.insert(name.into(), id);
                id
            }
        };
        self.open = Some(ThreadProfiler::call(|thread| thread.begin_scope(id, "")));
    }

    #[inline]
    pub(crate) fn end(&mut self) {
        if self.open.is_some() {
            self.close();
        }
    }

    #[inline(never)]
    fn close(&mut self) {
        if let Some(offset) = self.open.take() {
            ThreadProfiler::call(|thread| thread.end_scope(offset));
        }
    }
}

/// The scope of a name; the same one for the pass on the CPU and on the GPU.
#[cold]
pub(crate) fn register(name: &str) -> Option<ScopeId> {
    let details = ScopeDetails::from_scope_name(name.to_owned());
    let ids = GlobalProfiler::lock().register_user_scopes(&[details]);
    ids.first().copied()
}
