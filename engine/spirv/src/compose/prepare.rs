//! Takes a class's module apart.

use spirv::{Decoration as Deco, Op, StorageClass};

use super::class_module::{
    ClassModule, Decoration, Def, Function, Global, Line, MAX_BOUND, Owner, Stretch, WHOLE,
    instructions, part, string,
};
use super::error::{Code, Place};
use super::library::Library;
use super::link::{Linked, Role, Stub};
use super::specs::specs;
use crate::operands::{OperandKind, for_each_operand, instruction_info, opcode_name};
use crate::words::{Instruction, Words};
use crate::{Error, Stage};

/// Deepest nesting of types and constants. The specification has 255 for types.
const MAX_DEPTH: u16 = 512;

/// Most pointers that are declared before what they point to.
const MAX_FORWARD_POINTERS: usize = 512;

/// Takes a module apart.
pub(crate) fn prepare(
    library: &Library,
    class: usize,
    linked: &Linked,
    stubs: &[Stub],
    stage: Stage,
    bytes: &[u8],
) -> Result<ClassModule, Error> {
    let place = library
        .classes
        .get(class)
        .map(|class| class.header.place.clone())
        .unwrap_or_default();
    let symbol = format!("{} module", stage.name());
    let refuse = |code: Code, message: String| place.error(code, &symbol, message);
    let words = Words::parse(bytes).map_err(|error| refuse(Code::M22, error.to_string()))?;
    let bound = words.bound();
    if bound > MAX_BOUND {
        return Err(refuse(
            Code::M25,
            format!("the id bound is {bound}, expected at most {MAX_BOUND}"),
        ));
    }
    let mut reader = Reader {
        place: &place,
        symbol: &symbol,
        module: ClassModule {
            version: words.as_slice().get(1).copied().unwrap_or_default(),
            words: words.as_slice().to_vec(),
            bound,
            defs: vec![Def::None; bound as usize],
            specs: specs(library, class, linked),
            ..ClassModule::default()
        },
        literal_words: vec![0; bound as usize],
        types: vec![0; bound as usize],
        forward: vec![false; bound as usize],
        forwards: 0,
        depths: vec![0; bound as usize],
        groups: Vec::new(),
        non_semantic: Vec::new(),
        open: None,
        line: None,
        entries: 0,
    };
    for instruction in words.iter() {
        reader.instruction(instruction)?;
    }
    if reader.open.is_some() {
        return Err(reader.refuse(
            words.as_slice().len(),
            "Function",
            "the last function does not end",
        ));
    }
    if reader.entries > 1 {
        return Err(refuse(
            Code::M17,
            format!(
                "the module has {} entry points, expected one",
                reader.entries
            ),
        ));
    }
    reader.finish(library, class, linked, stubs)?;
    Ok(reader.module)
}

pub(crate) struct Reader<'a> {
    pub(crate) place: &'a Place,
    pub(crate) symbol: &'a str,
    pub(crate) module: ClassModule,
    /// Words of a literal of each type.
    pub(crate) literal_words: Vec<u8>,
    /// Type of each value.
    pub(crate) types: Vec<u32>,
    pub(crate) forward: Vec<bool>,
    pub(crate) forwards: usize,
    /// How deep each type or constant is nested.
    pub(crate) depths: Vec<u16>,
    pub(crate) groups: Vec<(u32, u32, u32)>,
    pub(crate) non_semantic: Vec<u32>,
    pub(crate) open: Option<Function>,
    pub(crate) line: Option<Line>,
    pub(crate) entries: u32,
}

pub(crate) fn get<T: Copy + Default>(all: &[T], at: u32) -> T {
    all.get(at as usize).copied().unwrap_or_default()
}

fn set<T>(all: &mut [T], at: u32, value: T) {
    if let Some(slot) = all.get_mut(at as usize) {
        *slot = value;
    }
}

impl Reader<'_> {
    fn refuse(&self, word: usize, name: &str, problem: impl std::fmt::Display) -> Error {
        self.place.error(
            Code::M22,
            self.symbol,
            format!("word {word}: Op{name} {problem}"),
        )
    }

    fn instruction(&mut self, instruction: Instruction<'_>) -> Result<(), Error> {
        let (op, at) = (instruction.opcode, instruction.offset);
        let name = opcode_name(op);
        let Some(info) = instruction_info(op) else {
            return Err(self.place.error(
                Code::M22,
                self.symbol,
                format!("word {at}: opcode {op} is not known"),
            ));
        };
        let mut ids: Vec<(u32, OperandKind)> = Vec::new();
        let mut unknown = None;
        let literal_words = |id: u32, is_type: bool| {
            let ty = if is_type { id } else { get(&self.types, id) };
            Some(usize::from(get(&self.literal_words, ty))).filter(|words| *words > 0)
        };
        for_each_operand(op, instruction.operands, &literal_words, &mut |operand| {
            let word = get(instruction.operands, operand.start as u32);
            match operand.kind {
                kind if kind.is_id() => ids.push((operand.start as u32, kind)),
                OperandKind::Decoration if Deco::from_u32(word).is_none() => {
                    unknown = Some(("decoration", word));
                }
                OperandKind::StorageClass if StorageClass::from_u32(word).is_none() => {
                    unknown = Some(("storage class", word));
                }
                OperandKind::ExecutionMode if spirv::ExecutionMode::from_u32(word).is_none() => {
                    unknown = Some(("execution mode", word));
                }
                _ => {}
            }
        })
        .map_err(|reason| self.refuse(at, &name, reason))?;
        if let Some((what, number)) = unknown {
            return Err(self.refuse(
                at,
                &name,
                format!("has {what} {number}, which is not known"),
            ));
        }
        for &(start, _) in &ids {
            let id = get(instruction.operands, start);
            if id == 0 || id >= self.module.bound {
                return Err(self.refuse(
                    at,
                    &name,
                    format!(
                        "has id {id}, which is not below the bound {}",
                        self.module.bound
                    ),
                ));
            }
        }
        let result = info
            .has_result
            .then(|| get(instruction.operands, u32::from(info.has_type)));
        let known = Op::from_u32(op);
        if self.debug(instruction, known) {
            return Ok(());
        }
        if let Some(id) = result {
            if get_def(&self.module.defs, id) != Def::None {
                return Err(self.refuse(at, &name, format!("defines id {id} again")));
            }
            if info.has_type {
                set(&mut self.types, id, get(instruction.operands, 0));
            }
        }
        if self.open.is_some() || known == Some(Op::Function) {
            self.in_function(instruction, known, &ids, result);
            return Ok(());
        }
        self.outside(instruction, known, &ids, result)
    }

    /// Lines and the like, which are kept apart.
    fn debug(&mut self, instruction: Instruction<'_>, op: Option<Op>) -> bool {
        match op {
            Some(Op::Line) => {
                self.line = Some(Line {
                    at: 0,
                    file: get(instruction.operands, 0),
                    line: get(instruction.operands, 1),
                    column: get(instruction.operands, 2),
                });
                true
            }
            Some(Op::NoLine) => {
                self.line = None;
                true
            }
            Some(
                Op::Nop
                | Op::Source
                | Op::SourceContinued
                | Op::SourceExtension
                | Op::ModuleProcessed,
            ) => true,
            Some(Op::ExtInst) => self.non_semantic.contains(&get(instruction.operands, 2)),
            _ => false,
        }
    }

    fn in_function(
        &mut self,
        instruction: Instruction<'_>,
        op: Option<Op>,
        ids: &[(u32, OperandKind)],
        result: Option<u32>,
    ) {
        let module = &mut self.module;
        let at = module.code.len() as u32;
        if op == Some(Op::Function) {
            let id = get(instruction.operands, 1);
            set(
                &mut module.defs,
                id,
                Def::Function(module.functions.len() as u32),
            );
            self.open = Some(Function {
                id,
                ty: get(instruction.operands, 3),
                name: module.name(id),
                role: Role::Private,
                code: Stretch {
                    words: at..at,
                    ids: module.code_ids.len() as u32..0,
                    lines: module.lines.len() as u32..0,
                    ..Stretch::default()
                },
                unresolved: false,
            });
        } else if let Some(id) = result {
            set(&mut module.defs, id, Def::Local);
        }
        let Some(function) = &mut self.open else {
            return;
        };
        if let Some(line) = self.line.take() {
            module.lines.push(Line { at, ..line });
        }
        module
            .code
            .push((instruction.operands.len() as u32 + 1) << 16 | instruction.opcode);
        module.code.extend_from_slice(instruction.operands);
        for &(start, _) in ids {
            module.code_ids.push(at + 1 + start);
        }
        if let Some(op) = op
            && super::stages::is_restricted(op)
        {
            function.code.restricted.push((instruction.opcode, at));
        }
        if op == Some(Op::FunctionEnd)
            && let Some(mut function) = self.open.take()
        {
            function.code.words.end = module.code.len() as u32;
            function.code.ids.end = module.code_ids.len() as u32;
            function.code.lines.end = module.lines.len() as u32;
            module.functions.push(function);
        }
    }

    fn outside(
        &mut self,
        instruction: Instruction<'_>,
        op: Option<Op>,
        ids: &[(u32, OperandKind)],
        result: Option<u32>,
    ) -> Result<(), Error> {
        let operands = instruction.operands;
        let first = instruction.offset as u32 + 1;
        let end = first + operands.len() as u32;
        let module = &mut self.module;
        match op {
            Some(Op::Capability) => module.capabilities.push(get(operands, 0)),
            Some(Op::Extension) => module.extensions.push(first..end),
            Some(Op::MemoryModel) => {
                (module.addressing, module.memory) = (get(operands, 0), get(operands, 1));
            }
            Some(Op::EntryPoint) => {
                self.entries += 1;
                module.entry = Some(get(operands, 1));
            }
            Some(Op::ExecutionMode) => module.modes.push((first + 1..end, false)),
            Some(Op::ExecutionModeId) => module.modes.push((first + 1..end, true)),
            Some(Op::Name) => {
                module
                    .names
                    .entry(get(operands, 0))
                    .or_insert(first + 1..end);
            }
            Some(Op::MemberName) => {
                module
                    .member_names
                    .push((get(operands, 0), get(operands, 1), first + 2..end));
            }
            Some(Op::Decorate | Op::DecorateId | Op::DecorateString) => {
                module.decorations.push(Decoration {
                    target: get(operands, 0),
                    member: WHOLE,
                    op: instruction.opcode,
                    words: first + 1..end,
                });
            }
            Some(Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT) => {
                module.decorations.push(Decoration {
                    target: get(operands, 0),
                    member: get(operands, 1),
                    op: instruction.opcode,
                    words: first + 2..end,
                });
            }
            Some(Op::DecorationGroup) => {}
            Some(Op::GroupDecorate) => {
                let targets = operands.iter().skip(1);
                self.groups
                    .extend(targets.map(|target| (get(operands, 0), *target, WHOLE)));
            }
            Some(Op::GroupMemberDecorate) => {
                let (pairs, _) = operands.get(1..).unwrap_or_default().as_chunks::<2>();
                self.groups.extend(
                    pairs
                        .iter()
                        .map(|[target, member]| (get(operands, 0), *target, *member)),
                );
            }
            Some(Op::TypeForwardPointer) => {
                set(&mut self.forward, get(operands, 0), true);
                self.forwards += 1;
                if self.forwards > MAX_FORWARD_POINTERS {
                    let problem = format!("is one of more than {MAX_FORWARD_POINTERS}");
                    return Err(self.refuse(instruction.offset, "TypeForwardPointer", problem));
                }
            }
            _ => {
                let Some(id) = result else {
                    return Err(self.refuse(
                        instruction.offset,
                        &opcode_name(instruction.opcode),
                        "cannot stand outside of functions here",
                    ));
                };
                if op == Some(Op::ExtInstImport) {
                    let name = string(operands.get(1..).unwrap_or_default());
                    if name.starts_with("NonSemantic.") || name.contains("DebugInfo") {
                        self.non_semantic.push(id);
                    }
                }
                self.global(instruction, op, ids, id)?;
            }
        }
        Ok(())
    }

    fn global(
        &mut self,
        instruction: Instruction<'_>,
        op: Option<Op>,
        ids: &[(u32, OperandKind)],
        id: u32,
    ) -> Result<(), Error> {
        let first = instruction.offset as u32 + 1;
        let begin = self.module.id_positions.len() as u32;
        let mut depth = 0;
        for &(start, kind) in ids {
            if kind == OperandKind::Result {
                continue;
            }
            let used = get(instruction.operands, start);
            // Everything outside of functions stands before its users, so following ids always ends.
            let fine = matches!(get_def(&self.module.defs, used), Def::Global(_))
                || get(&self.forward, used);
            if !fine {
                let name = opcode_name(instruction.opcode);
                return Err(self.refuse(
                    instruction.offset,
                    &name,
                    format!("uses id {used} before it is defined"),
                ));
            }
            depth = depth.max(get(&self.depths, used));
            self.module.id_positions.push(first + start);
        }
        if depth >= MAX_DEPTH {
            let name = opcode_name(instruction.opcode);
            return Err(self.refuse(
                instruction.offset,
                &name,
                format!("is nested more than {MAX_DEPTH} deep"),
            ));
        }
        set(&mut self.depths, id, depth + 1);
        if let Some(Op::TypeInt | Op::TypeFloat) = op {
            let words = get(instruction.operands, 1).div_ceil(32).min(4) as u8;
            set(&mut self.literal_words, id, words);
        }
        set(
            &mut self.module.defs,
            id,
            Def::Global(self.module.globals.len() as u32),
        );
        self.module.globals.push(Global {
            op: instruction.opcode,
            id,
            operands: first..first + instruction.operands.len() as u32,
            result_at: u32::from(
                instruction_info(instruction.opcode).is_some_and(|info| info.has_type),
            ),
            ids: begin..self.module.id_positions.len() as u32,
            decorations: 0..0,
            name: 0..0,
            member_names: 0..0,
            forward: get(&self.forward, id),
            shape: 0,
            layout: 0,
            owner: Owner::Own,
            automatic: false,
            referenced: false,
            size: 0,
        });
        Ok(())
    }

    fn finish(
        &mut self,
        library: &Library,
        class: usize,
        linked: &Linked,
        stubs: &[Stub],
    ) -> Result<(), Error> {
        self.decorate();
        self.hash_types();
        self.measure();
        self.check_blocks()?;
        self.functions();
        self.module.roles(library, class, stubs)?;
        self.owners(library, class, linked);
        super::initialisers::take_out(&mut self.module);
        self.numbers(library, class, linked);
        Ok(())
    }

    /// Finds what each function calls and uses.
    fn functions(&mut self) {
        let mut functions = std::mem::take(&mut self.module.functions);
        for function in &mut functions {
            facts(&self.module, &mut function.code);
        }
        self.module.functions = functions;
    }

    /// Says whose the private and shared variables are.
    fn owners(&mut self, library: &Library, class: usize, linked: &Linked) {
        let names: Vec<(usize, String)> = self
            .module
            .globals
            .iter()
            .enumerate()
            .filter(|(_, global)| global.op == Op::Variable as u32)
            .filter(|(_, global)| {
                matches!(
                    self.module.storage_class(global),
                    Some(StorageClass::Private | StorageClass::Workgroup)
                )
            })
            .map(|(index, global)| (index, self.module.name(global.id)))
            .collect();
        for (index, name) in names {
            let owner = owner(library, class, linked, &name);
            if let Some(global) = self.module.globals.get_mut(index) {
                global.owner = owner;
            }
        }
    }
}

pub(crate) fn get_def(defs: &[Def], id: u32) -> Def {
    defs.get(id as usize).copied().unwrap_or(Def::None)
}

/// Calls, variables, and ids with a name or decoration.
pub(crate) fn facts(module: &ClassModule, code: &mut Stretch) {
    let push = |list: &mut Vec<u32>, value: u32| {
        if !list.contains(&value) {
            list.push(value);
        }
    };
    for at in part(&module.code_ids, &code.ids) {
        let id = get(&module.code, *at);
        match get_def(&module.defs, id) {
            Def::Function(index) => push(&mut code.calls, index),
            Def::Global(index)
                if module
                    .globals
                    .get(index as usize)
                    .is_some_and(|global| global.op == Op::Variable as u32) =>
            {
                push(&mut code.variables, index);
            }
            _ => {}
        }
    }
    // The function itself is an id of its code, too.
    let own = get(&module.code, code.words.start + 2);
    let is_function = get(&module.code, code.words.start) & 0xffff == Op::Function as u32;
    if is_function && let Def::Function(own) = get_def(&module.defs, own) {
        let calls_itself = instructions(&module.code, &code.words).any(|(op, operands)| {
            op == Op::FunctionCall as u32
                && get_def(&module.defs, get(operands, 2)) == Def::Function(own)
        });
        if !calls_itself {
            code.calls.retain(|call| *call != own);
        }
    }
    for (op, operands) in instructions(&module.code, &code.words) {
        let Some(info) =
            instruction_info(op).filter(|info| info.has_result && op != Op::Function as u32)
        else {
            continue;
        };
        let id = get(operands, u32::from(info.has_type));
        let decorated = module
            .decorations
            .binary_search_by(|decoration| decoration.target.cmp(&id))
            .is_ok();
        if decorated || module.names.contains_key(&id) {
            code.named.push(id);
        }
    }
}

fn owner(library: &Library, class: usize, linked: &Linked, name: &str) -> Owner {
    let header = |class: usize| library.classes.get(class).map(|class| &class.header);
    let is_root = linked
        .visible
        .iter()
        .chain([&class])
        .filter_map(|class| header(*class))
        .any(|header| {
            header
                .root_variables
                .iter()
                .any(|variable| variable.name == name)
        });
    if is_root {
        return Owner::Root;
    }
    let shows = |class: &usize| {
        header(*class)
            .and_then(|header| header.region.as_ref())
            .is_some_and(|region| region.globals.iter().any(|global| global == name))
    };
    if shows(&class) {
        return Owner::Interface(class);
    }
    linked
        .visible
        .iter()
        .find(|class| shows(class))
        .map_or(Owner::Own, |class| Owner::Interface(*class))
}
