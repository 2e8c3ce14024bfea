//! Takes source text, file names and lines out of a module, and leaves the names of things in.

const HEADER_WORDS: usize = 5;

/// Instructions that carry a path, source text or a line: `OpSourceContinued`, `OpString`, `OpLine`, `OpNoLine`,
/// `OpModuleProcessed`. (`OpString` is only used by these; the front end's own use for debugPrintf keeps it, see below.)
const DROPPED: [u32; 4] = [2, 8, 317, 330];
const OP_SOURCE: u32 = 3;
const OP_STRING: u32 = 7;
const OP_EXT_INST: u32 = 12;

/// The module without debug information other than names, in the machine's byte order.
///
/// Strings stay if anything but debug instructions may use them: an extended instruction (debugPrintf) refers to them.
pub(super) fn without_source(words: &[u32]) -> Vec<u8> {
    let (header, body) = words.split_at(words.len().min(HEADER_WORDS));
    let mut instructions = Vec::new();
    let mut rest = body;
    while let Some(&first) = rest.first() {
        let count = (first >> 16) as usize;
        // The compiler writes whole instructions; anything else is passed on as it is for the reader to judge.
        if count == 0 || count > rest.len() {
            instructions.push(rest);
            break;
        }
        let (instruction, next) = rest.split_at(count);
        instructions.push(instruction);
        rest = next;
    }
    let opcode = |instruction: &[u32]| instruction.first().map_or(0, |word| word & 0xffff);
    let used_strings: Vec<u32> = instructions
        .iter()
        .filter(|i| opcode(i) == OP_EXT_INST)
        .flat_map(|i| i.iter().skip(5).copied())
        .collect();

    let mut out: Vec<u32> = header.to_vec();
    for instruction in instructions {
        match opcode(instruction) {
            op if DROPPED.contains(&op) => {}
            OP_STRING
                if instruction
                    .get(1)
                    .is_none_or(|id| !used_strings.contains(id)) => {}
            // Language and version stay, file and text go.
            OP_SOURCE if instruction.len() > 3 => {
                out.push(3 << 16 | OP_SOURCE);
                out.extend(instruction.iter().skip(1).take(2));
            }
            _ => out.extend(instruction),
        }
    }
    out.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
