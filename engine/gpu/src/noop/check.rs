//! Rules about the order of commands in one command buffer, checked when it ends.

use super::command::Command;

impl Command {
    /// Whether this is a draw of any kind.
    #[must_use]
    pub fn is_draw(&self) -> bool {
        use Command as C;
        matches!(
            self,
            C::Draw { .. }
                | C::DrawIndexed { .. }
                | C::DrawIndirect { .. }
                | C::DrawIndexedIndirect { .. }
                | C::DrawIndirectCount { .. }
                | C::DrawIndexedIndirectCount { .. }
                | C::DrawMeshTasks { .. }
                | C::DrawMeshTasksIndirect { .. }
                | C::DrawMeshTasksIndirectCount { .. }
        )
    }

    /// Whether this is a dispatch, indirect or not.
    #[must_use]
    pub fn is_dispatch(&self) -> bool {
        matches!(
            self,
            Command::Dispatch { .. } | Command::DispatchIndirect { .. }
        )
    }

    /// Whether Vulkan forbids the command between the begin and the end of rendering.
    fn only_outside(&self) -> bool {
        use Command as C;
        self.is_dispatch()
            || matches!(
                self,
                C::FillBuffer { .. }
                    | C::UpdateBuffer { .. }
                    | C::CopyBuffer { .. }
                    | C::CopyImage { .. }
                    | C::BlitImage { .. }
                    | C::ResolveImage { .. }
                    | C::CopyBufferToImage { .. }
                    | C::CopyImageToBuffer { .. }
                    | C::ClearColorImage { .. }
                    | C::ClearDepthStencilImage { .. }
                    | C::PipelineBarrier(_)
                    | C::ResetQueryPool { .. }
                    | C::CopyQueryPoolResults { .. }
                    | C::SetEvent { .. }
                    | C::ResetEvent { .. }
                    | C::BeginRendering { .. }
            )
    }
}

/// What is wrong with a command buffer's order: draws outside rendering, other work inside, labels and rendering left open.
/// A secondary command buffer may draw within the rendering of another.
pub(super) fn at_end(commands: &[Command], secondary: bool) -> Vec<String> {
    let mut errors = Vec::new();
    let (mut rendering, mut labels) = (false, 0i64);
    for (index, command) in commands.iter().enumerate() {
        if rendering && command.only_outside() {
            errors.push(format!(
                "command {index} is not allowed inside rendering: {command:?}"
            ));
        }
        if !secondary && !rendering && command.is_draw() {
            errors.push(format!(
                "command {index} draws outside rendering: {command:?}"
            ));
        }
        match command {
            Command::BeginRendering { .. } | Command::BeginRenderPass { .. } => rendering = true,
            Command::EndRendering | Command::EndRenderPass
                if !std::mem::replace(&mut rendering, false) =>
            {
                errors.push(format!("command {index} ends rendering that was not begun"));
            }
            Command::BeginLabel { .. } => labels += 1,
            Command::EndLabel => labels -= 1,
            _ => {}
        }
        if labels < 0 {
            errors.push(format!("command {index} ends a label that was not begun"));
            labels = 0;
        }
    }
    if rendering {
        errors.push("the command buffer ends inside rendering".to_owned());
    }
    if labels > 0 {
        errors.push(format!("the command buffer ends with {labels} labels open"));
    }
    errors
}
