//! Finds overrides that call each other in a circle.

use super::error::Code;
use super::link::Role;
use super::resolve::{Body, Resolver};
use crate::Error;

impl Resolver<'_> {
    /// SPIR-V has no recursion; overrides can make one out of calls that look harmless.
    pub(crate) fn check_recursion(&self) -> Result<(), Error> {
        let mut state = vec![0_u8; self.edges.len()];
        for start in 0..self.edges.len() {
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            while let Some((node, next)) = path.last_mut() {
                let node = *node;
                if *next == 0 {
                    match state.get(node) {
                        Some(0) => {}
                        _ => {
                            path.pop();
                            continue;
                        }
                    }
                    if let Some(state) = state.get_mut(node) {
                        *state = 1;
                    }
                }
                let edge = self
                    .edges
                    .get(node)
                    .and_then(|edges| edges.get(*next))
                    .copied();
                *next += 1;
                match edge {
                    Some(to) if state.get(to) == Some(&1) => return Err(self.recursion(&path, to)),
                    Some(to) if state.get(to) == Some(&0) => path.push((to, 0)),
                    Some(_) => {}
                    None => {
                        if let Some(state) = state.get_mut(node) {
                            *state = 2;
                        }
                        path.pop();
                    }
                }
            }
        }
        Ok(())
    }

    fn recursion(&self, path: &[(usize, usize)], again: usize) -> Error {
        let from = path
            .iter()
            .position(|(node, _)| *node == again)
            .unwrap_or_default();
        let circle: Vec<usize> = path
            .iter()
            .skip(from)
            .map(|(node, _)| *node)
            .chain([again])
            .collect();
        let of = |number: usize| match self.live.functions.get(number) {
            Some(
                Body::Copy { element, function }
                | Body::Each {
                    element, function, ..
                },
            ) => (*element, *function),
            None => (0, 0),
        };
        let names: Vec<_> = circle
            .iter()
            .map(|number| self.describe(of(*number)))
            .collect();
        let (element, function) = of(again);
        let role = self
            .modules
            .get(element)
            .copied()
            .flatten()
            .and_then(|module| module.functions.get(function as usize))
            .map_or(Role::Private, |function| function.role);
        let symbol = names
            .last()
            .and_then(|name| name.split("::").last())
            .unwrap_or_default();
        self.member_place(element, role).error(
            Code::M19,
            symbol,
            format!("calls itself: {}", names.join(" -> ")),
        )
    }
}
