//! Operations that only some stages have.

use spirv::Op;

use crate::Stage;

/// Whether an operation exists in some stages only.
pub(crate) fn is_restricted(op: Op) -> bool {
    stages(op).is_some()
}

/// Whether a stage has an operation.
pub(crate) fn allowed(op: Op, stage: Stage) -> bool {
    stages(op).is_none_or(|stages| stages.contains(&stage))
}

fn stages(op: Op) -> Option<&'static [Stage]> {
    Some(match op {
        Op::ImageSampleImplicitLod
        | Op::ImageSampleDrefImplicitLod
        | Op::ImageSampleProjImplicitLod
        | Op::ImageSampleProjDrefImplicitLod
        | Op::ImageSparseSampleImplicitLod
        | Op::ImageSparseSampleDrefImplicitLod
        | Op::ImageQueryLod
        | Op::DPdx
        | Op::DPdy
        | Op::Fwidth
        | Op::DPdxFine
        | Op::DPdyFine
        | Op::FwidthFine
        | Op::DPdxCoarse
        | Op::DPdyCoarse
        | Op::FwidthCoarse
        | Op::Kill
        | Op::TerminateInvocation
        | Op::DemoteToHelperInvocation
        | Op::IsHelperInvocationEXT
        | Op::BeginInvocationInterlockEXT
        | Op::EndInvocationInterlockEXT => &[Stage::Fragment],
        Op::ControlBarrier => &[Stage::Compute, Stage::Task, Stage::Mesh],
        Op::EmitMeshTasksEXT => &[Stage::Task],
        Op::SetMeshOutputsEXT => &[Stage::Mesh],
        Op::EmitVertex | Op::EndPrimitive => &[],
        _ => return None,
    })
}

/// Built-in functions of GLSL that the front end only knows in some stages.
#[cfg(feature = "compile")]
pub(crate) fn is_stage_function(name: &str) -> bool {
    ["dFdx", "dFdy", "fwidth", "interpolateAt"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || matches!(
            name,
            "barrier"
                | "EmitVertex"
                | "EndPrimitive"
                | "EmitMeshTasksEXT"
                | "SetMeshOutputsEXT"
                | "textureQueryLod"
                | "beginInvocationInterlockARB"
                | "endInvocationInterlockARB"
        )
}
