//! What the functions of a class module are: by their names, what the header declares or what stands for others.

use std::collections::HashMap;

use spirv::Op;

use super::class_module::{ClassModule, Function, instructions};
use super::error::Code;
use super::header::MemberKind;
use super::library::Library;
use super::link::{Role, Stub};
use super::prepare::get;
use crate::Error;

impl ClassModule {
    /// Gives every function its role.
    pub(crate) fn roles(
        &mut self,
        library: &Library,
        class: usize,
        stubs: &[Stub],
    ) -> Result<(), Error> {
        let Some(own) = library.classes.get(class) else {
            return Ok(());
        };
        let mut by_name: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
        for (index, function) in self.functions.iter().enumerate() {
            if let Some((name, parameters)) = function.name.split_once('(') {
                by_name.entry(name).or_default().push((index, parameters));
            }
        }
        let find = |name: &str, prototype: &super::prototype::Prototype| -> Option<usize> {
            let candidates = by_name.get(name)?;
            match candidates.as_slice() {
                [(index, parameters)] => fits(parameters, prototype).then_some(*index),
                several => several
                    .iter()
                    .find(|(_, parameters)| fits(parameters, prototype))
                    .map(|(index, _)| *index),
            }
        };
        let mut roles: Vec<(usize, Role)> = Vec::new();
        let mut members = Vec::with_capacity(own.header.members.len());
        for (index, member) in own.header.members.iter().enumerate() {
            if member.kind == MemberKind::Abstract {
                members.push(None);
                continue;
            }
            let Some(found) = find(&member.prototype.name, &member.prototype) else {
                let named = self
                    .functions
                    .iter()
                    .any(|function| !function.name.is_empty());
                let why = if named {
                    "the module has no function of this name and these parameters"
                } else {
                    "the module's functions have no names"
                };
                return Err(own.header.at(member.line).error(
                    Code::M21,
                    &member.key,
                    format!("{why}; was it stripped or optimised?"),
                ));
            };
            members.push(Some(found as u32));
            roles.push((found, Role::Own(index)));
        }
        for stub in stubs {
            if let Some(found) = find(&stub.name, &stub.prototype)
                && !roles.iter().any(|(other, _)| *other == found)
            {
                roles.push((found, stub.role));
            }
        }
        for (index, role) in roles {
            if let Some(function) = self.functions.get_mut(index) {
                function.role = role;
            }
        }
        self.members = members;
        for index in 0..self.functions.len() {
            let unresolved = self
                .functions
                .get(index)
                .is_some_and(|function| self.is_stub(function));
            if let Some(function) = self.functions.get_mut(index) {
                function.unresolved = unresolved;
            }
        }
        Ok(())
    }

    /// A function without a body, or named as if it stood for another with nothing in it.
    fn is_stub(&self, function: &Function) -> bool {
        if function.role != Role::Private {
            return false;
        }
        let mut blocks = 0;
        let mut real = 0;
        let mut undefined = false;
        for (op, operands) in instructions(&self.code, &function.code.words) {
            match Op::from_u32(op) {
                Some(Op::Label) => blocks += 1,
                Some(Op::Variable) => undefined |= self.name(get(operands, 1)) == "mixin_result",
                Some(
                    Op::Function
                    | Op::FunctionParameter
                    | Op::FunctionEnd
                    | Op::Return
                    | Op::ReturnValue
                    | Op::Load,
                ) => {}
                _ => real += 1,
            }
        }
        let named = function.name.starts_with("base_") || function.name.starts_with("slot_");
        let void = self.global(function.ty).is_some_and(|ty| {
            self.operands(ty)
                .get(1)
                .and_then(|ty| self.global(*ty))
                .is_some_and(|ty| ty.op == Op::TypeVoid as u32)
        });
        blocks == 0 || (real == 0 && (undefined || (named && void)))
    }
}

/// Whether a mangled parameter list can be that of a prototype.
fn fits(mangled: &str, prototype: &super::prototype::Prototype) -> bool {
    let parts: Vec<&str> = mangled.split(';').filter(|part| !part.is_empty()).collect();
    if parts.len() != prototype.parameters.len() {
        return false;
    }
    prototype
        .mangled()
        .iter()
        .zip(&parts)
        .zip(&prototype.parameters)
        .all(|((known, part), parameter)| match known {
            Some(known) => known == part,
            None => {
                !part.starts_with("struct-")
                    || part.starts_with(&format!("struct-{}-", parameter.base))
            }
        })
}
