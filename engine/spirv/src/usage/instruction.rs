//! What one instruction does with pointers and handles.

use smallvec::SmallVec;
use spirv::{GlslStd450Op, Op};

use super::places::{PlaceId, Root};
use super::walk::{Found, READ, WRITE, Walk, physical_pointee};
use crate::error::Error;
use crate::module::Module;
use crate::words::Instruction;

impl Walk<'_, '_> {
    pub(super) fn instruction(&mut self, instruction: Instruction<'_>) -> Result<(), Error> {
        let operand = |position: usize| instruction.operands.get(position).copied().unwrap_or(0);
        // By far the most, before the long way through all others.
        if instruction.is(Op::Load) {
            return self.load(operand(0), operand(1), operand(2));
        }
        if instruction.is(Op::AccessChain) || instruction.is(Op::InBoundsAccessChain) {
            return self.chain(operand(1), operand(2), None, instruction.rest(3), false);
        }
        if instruction.is(Op::Store) {
            let object = self.get(operand(1));
            let target = self.touch_value(operand(0), WRITE);
            return self.fill_all(&target, &object);
        }
        self.any_other(instruction)
    }

    #[inline(never)]
    fn any_other(&mut self, instruction: Instruction<'_>) -> Result<(), Error> {
        let operand = |position: usize| instruction.operands.get(position).copied().unwrap_or(0);
        let Some(op) = instruction.op() else {
            return Ok(());
        };
        match op {
            Op::CopyMemory | Op::CopyMemorySized => {
                let source = self.touch_value(operand(1), READ);
                let target = self.touch_value(operand(0), WRITE);
                for place in source.iter() {
                    let held = self.held(self.places.get(*place).root);
                    self.fill_all(&target, &held)?;
                }
                Ok(())
            }
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                self.chain(operand(1), operand(2), None, instruction.rest(4), true)
            }
            Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => self.chain(
                operand(1),
                operand(3),
                Some(operand(2)),
                instruction.rest(4),
                false,
            ),
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => self.chain(
                operand(1),
                operand(3),
                Some(operand(2)),
                instruction.rest(5),
                true,
            ),
            Op::RawAccessChainNV | Op::ImageTexelPointer => self.pass_on(operand(1), &[operand(2)]),
            Op::UntypedImageTexelPointerEXT => self.pass_on(operand(1), &[operand(3)]),
            Op::FunctionCall => self.call(instruction),
            Op::ReturnValue => {
                let value = self.get(operand(0));
                self.add_return(&value)
            }
            Op::Variable => {
                if instruction.operands.len() <= 3 {
                    return Ok(());
                }
                let initial = self.get(operand(3));
                self.fill(Root::Variable(operand(1)), &initial)
            }
            Op::SampledImage => self.pass_on(operand(1), &[operand(2), operand(3)]),
            Op::Image => {
                // The image of a pair, without the sampler.
                let pair = self.get(operand(2));
                let module = self.module;
                let images: Vec<PlaceId> = pair
                    .iter()
                    .copied()
                    .filter(|place| {
                        module.opcode_of(self.places.get(*place).ty) != Some(Op::TypeSampler)
                    })
                    .collect();
                self.flow(operand(1), &images)
            }
            Op::ImageWrite => {
                self.touch_value(operand(0), WRITE);
                Ok(())
            }
            Op::AtomicLoad => {
                self.touch_value(operand(2), READ);
                Ok(())
            }
            Op::AtomicStore | Op::AtomicFlagClear => {
                self.touch_value(operand(0), WRITE);
                Ok(())
            }
            Op::CooperativeMatrixStoreKHR
            | Op::CooperativeMatrixStoreNV
            | Op::CooperativeMatrixStoreTensorNV
            | Op::CooperativeVectorStoreNV => {
                self.touch_value(operand(0), WRITE);
                Ok(())
            }
            Op::TensorWriteARM => {
                self.touch_value(operand(0), WRITE);
                Ok(())
            }
            Op::ExtInst => self.extended(instruction),
            Op::Phi => {
                let incoming: Vec<u32> = instruction.rest(2).iter().step_by(2).copied().collect();
                self.pass_on(operand(1), &incoming)
            }
            Op::Select => self.pass_on(operand(1), &[operand(3), operand(4)]),
            Op::CompositeExtract => self.pass_on(operand(1), &[operand(2)]),
            Op::CompositeInsert => self.pass_on(operand(1), &[operand(2), operand(3)]),
            Op::CompositeConstruct => self.pass_on(operand(1), instruction.rest(2)),
            Op::CopyObject | Op::CopyLogical => self.pass_on(operand(1), &[operand(2)]),
            // An address seen as another type, or made of a number, is a new beginning.
            Op::Bitcast if physical_pointee(self.module, operand(0)).is_some() => Ok(()),
            Op::Bitcast => self.pass_on(operand(1), &[operand(2)]),
            _ if is_image_read(op) => {
                self.touch_value(operand(2), READ);
                if matches!(op, Op::ImageSampleWeightedQCOM) {
                    self.touch_value(operand(4), READ);
                }
                if matches!(op, Op::ImageBlockMatchSADQCOM | Op::ImageBlockMatchSSDQCOM) {
                    self.touch_value(operand(4), READ);
                }
                Ok(())
            }
            _ if is_load(op) => {
                self.touch_value(operand(2), READ);
                Ok(())
            }
            _ => self.other(instruction),
        }
    }

    fn touch_value(&mut self, id: u32, flags: u8) -> Found {
        let places = self.get(id);
        self.touch(&places, flags);
        places
    }

    fn fill_all(&mut self, targets: &[PlaceId], places: &[PlaceId]) -> Result<(), Error> {
        for target in targets {
            let root = self.places.get(*target).root;
            self.fill(root, places)?;
        }
        Ok(())
    }

    fn pass_on(&mut self, result: u32, sources: &[u32]) -> Result<(), Error> {
        for source in sources {
            // Composites of plain numbers are by far the most; they stand for no place.
            let places = self.get(*source);
            self.flow(result, &places)?;
        }
        Ok(())
    }

    fn load(&mut self, ty: u32, result: u32, pointer: u32) -> Result<(), Error> {
        let places = self.get(pointer);
        if self.holds_handle(ty) {
            // Taking a handle reads nothing of what it stands for.
            self.flow(result, &places)?;
        } else {
            self.touch(&places, READ);
        }
        for place in places.iter() {
            let held = self.held(self.places.get(*place).root);
            self.flow(result, &held)?;
        }
        Ok(())
    }

    fn chain(
        &mut self,
        result: u32,
        base: u32,
        view: Option<u32>,
        indices: &[u32],
        arithmetic: bool,
    ) -> Result<(), Error> {
        let module = self.module;
        for mut place in self.get(base).iter().copied() {
            if arithmetic {
                place = self.places.neighbours(module, place);
            }
            if let Some(ty) = view {
                place = self.places.view(place, ty);
            }
            for index in indices {
                let constant = crate::reflect::literal_index(module, *index);
                place = self.places.child(module, place, constant);
            }
            self.flow(result, &[place])?;
        }
        Ok(())
    }

    fn call(&mut self, instruction: Instruction<'_>) -> Result<(), Error> {
        let (result, function) = (instruction.operand(1)?, instruction.operand(2)?);
        let module = self.module;
        let callee = module
            .function_index(function)
            .and_then(|index| module.functions.get(index));
        for (position, argument) in instruction.rest(3).iter().enumerate() {
            let places = self.get(*argument);
            match callee.and_then(|callee| callee.parameters.get(position)) {
                Some(parameter) => self.flow(*parameter, &places)?,
                // An imported function may do anything.
                None => self.touch(&places, READ | WRITE),
            }
        }
        let returned = self.returned(function);
        self.flow(result, &returned)
    }

    fn extended(&mut self, instruction: Instruction<'_>) -> Result<(), Error> {
        let is_glsl = instruction
            .operands
            .get(2)
            .is_some_and(|set| self.module.is_glsl_set(*set));
        if is_glsl {
            let pointer =
                |position: usize| instruction.operands.get(position).copied().unwrap_or(0);
            match instruction
                .operands
                .get(3)
                .copied()
                .and_then(GlslStd450Op::from_u32)
            {
                Some(GlslStd450Op::Modf | GlslStd450Op::Frexp) => {
                    self.touch_value(pointer(5), WRITE);
                }
                Some(
                    GlslStd450Op::InterpolateAtCentroid
                    | GlslStd450Op::InterpolateAtSample
                    | GlslStd450Op::InterpolateAtOffset,
                ) => {
                    self.touch_value(pointer(4), READ);
                }
                _ => {}
            }
            return Ok(());
        }
        self.other(instruction)
    }

    /// Any other instruction: what it is given, it may read and write; of handles that only can be read, it reads.
    fn other(&mut self, instruction: Instruction<'_>) -> Result<(), Error> {
        let module = self.module;
        let mut given = Vec::new();
        let _ = crate::operands::for_each_operand(
            instruction.opcode,
            instruction.operands,
            &|_, _| None,
            &mut |operand| {
                if operand.kind == crate::operands::OperandKind::Id {
                    given.extend(instruction.operands.get(operand.start));
                }
            },
        );
        let result = crate::operands::instruction_info(instruction.opcode)
            .filter(|info| info.has_type && info.has_result);
        for id in given {
            for place in self.get(id).iter().copied() {
                let read_only = matches!(
                    module.opcode_of(self.places.get(place).ty),
                    Some(Op::TypeAccelerationStructureKHR | Op::TypeSampler | Op::TypeSampledImage)
                );
                self.touch(&[place], if read_only { READ } else { READ | WRITE });
                if let Some(result) = result.and(instruction.operands.get(1)) {
                    self.flow(*result, &[place])?;
                }
            }
        }
        Ok(())
    }
}

/// Instructions whose third operand is an image, or an image with its sampler, that they read texels of.
fn is_image_read(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageFetch
            | Op::ImageGather
            | Op::ImageDrefGather
            | Op::ImageRead
            | Op::ImageSparseSampleImplicitLod
            | Op::ImageSparseSampleExplicitLod
            | Op::ImageSparseSampleDrefImplicitLod
            | Op::ImageSparseSampleDrefExplicitLod
            | Op::ImageSparseSampleProjImplicitLod
            | Op::ImageSparseSampleProjExplicitLod
            | Op::ImageSparseSampleProjDrefImplicitLod
            | Op::ImageSparseSampleProjDrefExplicitLod
            | Op::ImageSparseFetch
            | Op::ImageSparseGather
            | Op::ImageSparseDrefGather
            | Op::ImageSparseRead
            | Op::ImageSampleFootprintNV
            | Op::ImageSampleWeightedQCOM
            | Op::ImageBoxFilterQCOM
            | Op::ImageBlockMatchSADQCOM
            | Op::ImageBlockMatchSSDQCOM
            | Op::FragmentFetchAMD
            | Op::FragmentMaskFetchAMD
            | Op::TensorReadARM
    )
}

/// Other instructions whose third operand is a pointer that they read through.
fn is_load(op: Op) -> bool {
    matches!(
        op,
        Op::CooperativeMatrixLoadKHR
            | Op::CooperativeMatrixLoadNV
            | Op::CooperativeMatrixLoadTensorNV
            | Op::CooperativeVectorLoadNV
            | Op::ConvertUToAccelerationStructureKHR
    )
}

/// Whether types that this opcode defines are handles.
fn is_handle(op: Option<Op>) -> bool {
    matches!(
        op,
        Some(
            Op::TypeImage
                | Op::TypeSampler
                | Op::TypeSampledImage
                | Op::TypeAccelerationStructureKHR
                | Op::TypeTensorARM
                | Op::TypeRayQueryKHR
                | Op::TypeHitObjectNV
        )
    )
}

/// Whether a type is a handle or holds one.
pub(super) fn holds_handle(module: &Module, ty: u32) -> bool {
    if !matches!(
        module.opcode_of(ty),
        Some(Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray)
    ) {
        return is_handle(module.opcode_of(ty));
    }
    let mut work: SmallVec<[u32; 16]> = SmallVec::new();
    work.push(ty);
    let mut left = 4096;
    while let Some(ty) = work.pop() {
        let Some(definition) = module.definition(ty) else {
            continue;
        };
        match definition.op() {
            op if is_handle(op) => return true,
            Some(Op::TypeArray | Op::TypeRuntimeArray) => {
                work.extend(definition.operands.get(1).copied());
            }
            Some(Op::TypeStruct) => work.extend_from_slice(definition.rest(1)),
            _ => {}
        }
        left -= 1;
        if left == 0 {
            return true;
        }
    }
    false
}
