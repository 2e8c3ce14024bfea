//! The GPU's part of a frame as a puffin stream: one scope for each GPU frame, with a scope for each pass in it.

use super::scopes::register;
use crate::frame::FrameResult;
use crate::pass::PassName;
use puffin::{ScopeId, Stream, StreamInfo};

/// Makes the stream of some GPU frames, oldest first; `None` when nothing was timed. `last_end` is where the GPU frame before
/// ended, on puffin's clock, and is moved on.
pub(crate) fn stream<'a>(
    frames: impl Iterator<Item = &'a FrameResult>,
    frame_scope: ScopeId,
    last_end: &mut i64,
) -> Option<StreamInfo> {
    let mut stream = Stream::default();
    for frame in frames {
        let Some(moments) = frame.moments else {
            continue;
        };
        if frame.gpu_ns == 0 || frame.passes.is_empty() {
            continue;
        }
        // Without calibration a frame is put where it can have begun: when it was submitted and the one before was done.
        let start = moments
            .gpu_start_ns
            .unwrap_or(moments.submit_ns)
            .max(*last_end);
        let passes: Vec<_> = frame
            .passes
            .iter()
            .map(|pass| {
                (
                    &pass.name,
                    start + pass.gpu_start_ns as i64,
                    start + pass.gpu_end_ns as i64,
                )
            })
            .collect();
        let end = passes.iter().map(|pass| pass.2).max().unwrap_or(start);
        let (whole, _) = stream.begin_scope(|| start, frame_scope, &frame.frame.to_string());
        for (name, from, to) in side_by_side(passes, start) {
            let Some(id) = register(name) else { continue };
            let (offset, _) = stream.begin_scope(|| from, id, "");
            stream.end_scope(offset, to);
        }
        stream.end_scope(whole, end);
        *last_end = end;
    }
    StreamInfo::parse(stream)
        .ok()
        .filter(|info| info.num_scopes > 0)
}

/// Sorts passes by their beginning and takes from each what overlaps the one before: scopes of one stream lie side by side.
fn side_by_side(
    mut passes: Vec<(&PassName, i64, i64)>,
    start: i64,
) -> impl Iterator<Item = (&PassName, i64, i64)> {
    passes.sort_by_key(|&(_, from, _)| from);
    let mut free = start;
    passes.into_iter().map(move |(name, from, to)| {
        let from = from.max(free);
        let to = to.max(from);
        free = to;
        (name, from, to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FrameMoments, PassResult};
    use puffin::Reader;

    fn result(frame: u64, gpu_start_ns: Option<i64>, passes: &[(&str, u64, u64)]) -> FrameResult {
        FrameResult {
            frame,
            gpu_ns: passes.iter().map(|pass| pass.2).max().unwrap_or(0),
            passes: passes
                .iter()
                .map(|&(name, gpu_start_ns, gpu_end_ns)| PassResult {
                    name: PassName::new(name),
                    gpu_start_ns,
                    gpu_end_ns,
                    ..PassResult::default()
                })
                .collect(),
            moments: Some(FrameMoments {
                submit_ns: 1000,
                gpu_start_ns,
            }),
            ..FrameResult::default()
        }
    }

    /// A GPU frame's interval, and those of its passes.
    type Whole = (i64, i64, Vec<(i64, i64)>);

    fn scopes(stream: &StreamInfo) -> Vec<Whole> {
        let top = Reader::from_start(&stream.stream)
            .read_top_scopes()
            .unwrap();
        let interval = |scope: &puffin::Scope<'_>| (scope.record.start_ns, scope.record.stop_ns());
        top.iter()
            .map(|scope| {
                let inside =
                    Reader::with_offset(&stream.stream, scope.child_begin_position).unwrap();
                let inside = inside.read_top_scopes().unwrap();
                let (from, to) = interval(scope);
                (from, to, inside.iter().map(interval).collect())
            })
            .collect()
    }

    #[test]
    fn passes_lie_in_their_frame_side_by_side() {
        let id = register(&PassName::new("frame of a test")).unwrap();
        let frames = [
            result(
                1,
                Some(5000),
                &[("a", 0, 100), ("b", 90, 150), ("c", 20, 60)],
            ),
            // Not calibrated: after its submit and after the frame before.
            result(2, None, &[("a", 0, 10)]),
            result(3, None, &[]),
        ];
        let mut last_end = 0;
        let info = stream(frames.iter(), id, &mut last_end).unwrap();
        assert_eq!(
            scopes(&info),
            [
                (5000, 5150, vec![(5000, 5100), (5100, 5100), (5100, 5150)]),
                (5150, 5160, vec![(5150, 5160)]),
            ]
        );
        assert_eq!((info.num_scopes, info.depth, last_end), (6, 2, 5160));
        let nothing = [result(4, None, &[])];
        assert!(stream(nothing.iter(), id, &mut last_end).is_none());
    }
}
