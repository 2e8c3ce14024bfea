//! Values of parameters, and the constant expressions that headers pass on.

use std::fmt;

use super::tokens::{Token, tokens};

/// Scalar type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Scalar {
    Bool,
    Int,
    Uint,
    Float,
}

/// Type of a parameter: a scalar, or a vector of 2 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ParamType {
    pub(crate) scalar: Scalar,
    pub(crate) components: u8,
}

impl ParamType {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let scalar = |components, scalar| Some(Self { scalar, components });
        match name {
            "bool" => return scalar(1, Scalar::Bool),
            "int" => return scalar(1, Scalar::Int),
            "uint" => return scalar(1, Scalar::Uint),
            "float" => return scalar(1, Scalar::Float),
            _ => {}
        }
        let (prefix, size) = name.split_once("vec")?;
        let components = match size {
            "2" => 2,
            "3" => 3,
            "4" => 4,
            _ => return None,
        };
        match prefix {
            "" => scalar(components, Scalar::Float),
            "i" => scalar(components, Scalar::Int),
            "u" => scalar(components, Scalar::Uint),
            "b" => scalar(components, Scalar::Bool),
            _ => None,
        }
    }

    pub(crate) fn scalar_name(self) -> &'static str {
        match self.scalar {
            Scalar::Bool => "bool",
            Scalar::Int => "int",
            Scalar::Uint => "uint",
            Scalar::Float => "float",
        }
    }
}

impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.components == 1 {
            return f.write_str(self.scalar_name());
        }
        let prefix = match self.scalar {
            Scalar::Bool => "b",
            Scalar::Int => "i",
            Scalar::Uint => "u",
            Scalar::Float => "",
        };
        write!(f, "{prefix}vec{}", self.components)
    }
}

/// A value, by the bits of its components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Constant {
    pub(crate) ty: ParamType,
    pub(crate) bits: [u32; 4],
}

impl Constant {
    fn scalar(scalar: Scalar, bits: u32) -> Self {
        Self {
            ty: ParamType {
                scalar,
                components: 1,
            },
            bits: [bits, 0, 0, 0],
        }
    }

    pub(crate) fn int(value: i32) -> Self {
        Self::scalar(Scalar::Int, value as u32)
    }

    /// The components as GLSL.
    #[cfg(feature = "compile")]
    pub(crate) fn components(self) -> impl Iterator<Item = String> {
        self.bits
            .into_iter()
            .take(usize::from(self.ty.components))
            .map(move |bits| match self.ty.scalar {
                Scalar::Bool => (bits != 0).to_string(),
                Scalar::Int => (bits as i32).to_string(),
                Scalar::Uint => format!("{bits}u"),
                Scalar::Float => format!("{:?}", f32::from_bits(bits)),
            })
    }

    /// The value as another type, by GLSL's implicit conversions, and of literals that fit.
    pub(crate) fn converted(self, to: ParamType) -> Result<Self, String> {
        if self.ty.components != to.components {
            return Err(format!("is {} ({}), expected {to}", self.ty, self));
        }
        let mut bits = [0; 4];
        for (to_bits, from) in bits
            .iter_mut()
            .zip(self.bits)
            .take(usize::from(to.components))
        {
            *to_bits = match (self.ty.scalar, to.scalar) {
                (a, b) if a == b => from,
                (Scalar::Int, Scalar::Uint) if (from as i32) >= 0 => from,
                (Scalar::Uint, Scalar::Int) if (from as i32) >= 0 => from,
                (Scalar::Int, Scalar::Float) => (from as i32 as f32).to_bits(),
                (Scalar::Uint, Scalar::Float) => (from as f32).to_bits(),
                (Scalar::Int, Scalar::Uint) | (Scalar::Uint, Scalar::Int) => {
                    return Err(format!("is {self}, which is out of range for {to}"));
                }
                _ => return Err(format!("is {} ({}), expected {to}", self.ty, self)),
            };
        }
        Ok(Self { ty: to, bits })
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |bits: u32| match self.ty.scalar {
            Scalar::Bool => (bits != 0).to_string(),
            Scalar::Int => (bits as i32).to_string(),
            Scalar::Uint => bits.to_string(),
            Scalar::Float => format!("{:?}", f32::from_bits(bits)),
        };
        if self.ty.components == 1 {
            return f.write_str(&one(self.bits[0]));
        }
        let parts: Vec<_> = self
            .bits
            .iter()
            .take(usize::from(self.ty.components))
            .map(|bits| one(*bits))
            .collect();
        write!(f, "{}({})", self.ty, parts.join(", "))
    }
}

/// Deepest nesting of parentheses and operators.
const MAX_DEPTH: usize = 64;

/// Evaluates a constant expression; `lookup` gives the values of names.
pub(crate) fn evaluate(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<Constant>,
) -> Result<Constant, String> {
    let found = tokens(text, 1);
    let mut parser = Parser {
        tokens: &found,
        at: 0,
        depth: 0,
        lookup,
    };
    let value = parser.binary(0)?;
    match parser.peek() {
        None => Ok(value),
        Some(rest) => Err(format!("{text:?} has {rest:?} after the expression")),
    }
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    depth: usize,
    lookup: &'a dyn Fn(&str) -> Option<Constant>,
}

fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).map(|token| token.text)
    }

    fn binary(&mut self, least: u8) -> Result<Constant, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("is nested more than {MAX_DEPTH} deep"));
        }
        let mut left = self.unary()?;
        while let Some(operator) = self.peek()
            && let Some(level) = precedence(operator)
            && level > least
        {
            self.at += 1;
            let right = self.binary(level)?;
            left = apply(operator, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Constant, String> {
        let Some(token) = self.peek() else {
            return Err("lacks an operand".to_owned());
        };
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("is nested more than {MAX_DEPTH} deep"));
        }
        let value = match token {
            "(" => {
                let value = self.binary(0)?;
                self.close()?;
                value
            }
            "-" | "+" | "!" | "~" => negated(token, self.unary()?)?,
            "true" | "false" => Constant::scalar(Scalar::Bool, u32::from(token == "true")),
            number if number.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                literal(number)?
            }
            name => match ParamType::parse(name).filter(|_| self.peek() == Some("(")) {
                Some(ty) => self.constructor(ty)?,
                None => (self.lookup)(name)
                    .ok_or_else(|| format!("names {name:?}, which is no parameter"))?,
            },
        };
        self.depth -= 1;
        Ok(value)
    }

    fn close(&mut self) -> Result<(), String> {
        if self.peek() == Some(")") {
            self.at += 1;
            return Ok(());
        }
        Err("lacks a closing parenthesis".to_owned())
    }

    fn constructor(&mut self, ty: ParamType) -> Result<Constant, String> {
        self.at += 1;
        let mut parts = Vec::new();
        loop {
            let value = self.binary(0)?;
            for bits in value.bits.iter().take(usize::from(value.ty.components)) {
                parts.push(Constant::scalar(value.ty.scalar, *bits));
            }
            if self.peek() != Some(",") {
                break;
            }
            self.at += 1;
        }
        self.close()?;
        let count = usize::from(ty.components);
        if parts.len() == 1 {
            parts = vec![parts[0]; count];
        }
        if parts.len() != count {
            return Err(format!("gives {} components to {ty}", parts.len()));
        }
        let mut bits = [0; 4];
        for (to, part) in bits.iter_mut().zip(parts) {
            *to = cast(part, ty.scalar);
        }
        Ok(Constant { ty, bits })
    }
}

/// GLSL's explicit conversion.
fn cast(value: Constant, to: Scalar) -> u32 {
    let bits = value.bits[0];
    match (value.ty.scalar, to) {
        (Scalar::Float, Scalar::Int) => f32::from_bits(bits) as i32 as u32,
        (Scalar::Float, Scalar::Uint) => f32::from_bits(bits) as u32,
        (Scalar::Float, Scalar::Bool) => u32::from(f32::from_bits(bits) != 0.0),
        (Scalar::Int, Scalar::Float) => (bits as i32 as f32).to_bits(),
        (Scalar::Uint | Scalar::Bool, Scalar::Float) => (bits as f32).to_bits(),
        (_, Scalar::Bool) => u32::from(bits != 0),
        _ => bits,
    }
}

fn literal(text: &str) -> Result<Constant, String> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    if hexadecimal.is_none() && (text.contains(['.', 'e', 'E']) || text.ends_with(['f', 'F'])) {
        let digits = text.trim_end_matches(['f', 'F', 'l', 'L']);
        return match digits.parse::<f32>() {
            Ok(value) if value.is_finite() => Ok(Constant::scalar(Scalar::Float, value.to_bits())),
            _ => Err(format!("has {text:?}, which is no float")),
        };
    }
    let unsigned = text.ends_with(['u', 'U']);
    let digits = text.trim_end_matches(['u', 'U']);
    let value = match hexadecimal {
        Some(digits) => u32::from_str_radix(digits.trim_end_matches(['u', 'U']), 16),
        None => digits.parse::<u32>(),
    }
    .map_err(|_| format!("has {text:?}, which is no number of 32 bits"))?;
    if unsigned {
        Ok(Constant::scalar(Scalar::Uint, value))
    } else if hexadecimal.is_some() || value <= i32::MAX as u32 {
        Ok(Constant::int(value as i32))
    } else {
        Err(format!("has {text}, which is out of range for int"))
    }
}

fn negated(operator: &str, value: Constant) -> Result<Constant, String> {
    let mut result = value;
    for bits in &mut result.bits {
        *bits = match (operator, value.ty.scalar) {
            ("+", Scalar::Int | Scalar::Uint | Scalar::Float) => *bits,
            ("-", Scalar::Int | Scalar::Uint) => bits.wrapping_neg(),
            ("-", Scalar::Float) => (-f32::from_bits(*bits)).to_bits(),
            ("~", Scalar::Int | Scalar::Uint) => !*bits,
            ("!", Scalar::Bool) => u32::from(*bits == 0),
            _ => return Err(format!("applies {operator} to {}", value.ty)),
        };
    }
    Ok(result)
}

fn apply(operator: &str, left: Constant, right: Constant) -> Result<Constant, String> {
    // As in GLSL, the operands are brought to the greater of both types; a scalar meets each component of a vector.
    let scalar = left.ty.scalar.max(right.ty.scalar);
    let components = left.ty.components.max(right.ty.components);
    let wide = |value: Constant| {
        let value = if value.ty.components == 1 {
            Constant {
                ty: ParamType {
                    components,
                    ..value.ty
                },
                bits: [value.bits[0]; 4],
            }
        } else {
            value
        };
        value.converted(ParamType { scalar, components })
    };
    let (left, right) = (wide(left)?, wide(right)?);
    let comparison = matches!(
        operator,
        "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||"
    );
    if comparison && components > 1 {
        return Err(format!("applies {operator} to vectors"));
    }
    let mut result = left;
    for (to, other) in result
        .bits
        .iter_mut()
        .zip(right.bits)
        .take(usize::from(components))
    {
        *to = component(operator, scalar, *to, other)?;
    }
    if comparison {
        result.ty.scalar = Scalar::Bool;
    }
    Ok(result)
}

fn component(operator: &str, scalar: Scalar, a: u32, b: u32) -> Result<u32, String> {
    let bad = || Err(format!("applies {operator} to {scalar:?}").to_lowercase());
    let overflow = |value: Option<i32>| {
        value
            .map(|value| value as u32)
            .ok_or_else(|| "overflows, or divides by zero".to_owned())
    };
    let overflow_unsigned =
        |value: Option<u32>| value.ok_or_else(|| "overflows, or divides by zero".to_owned());
    let ordered = |order: Option<std::cmp::Ordering>| {
        let holds = match operator {
            "==" => order.is_some_and(std::cmp::Ordering::is_eq),
            "!=" => !order.is_some_and(std::cmp::Ordering::is_eq),
            "<" => order.is_some_and(std::cmp::Ordering::is_lt),
            "<=" => order.is_some_and(std::cmp::Ordering::is_le),
            ">" => order.is_some_and(std::cmp::Ordering::is_gt),
            ">=" => order.is_some_and(std::cmp::Ordering::is_ge),
            _ => return None,
        };
        Some(u32::from(holds))
    };
    match scalar {
        Scalar::Bool => match operator {
            "&&" => Ok(a & b),
            "||" => Ok(a | b),
            "==" => Ok(u32::from(a == b)),
            "!=" => Ok(u32::from(a != b)),
            _ => bad(),
        },
        Scalar::Int => {
            let (x, y) = (a as i32, b as i32);
            match operator {
                "+" => overflow(x.checked_add(y)),
                "-" => overflow(x.checked_sub(y)),
                "*" => overflow(x.checked_mul(y)),
                "/" => overflow(x.checked_div(y)),
                "%" => overflow(x.checked_rem(y)),
                "<<" => overflow(x.checked_shl(b)),
                ">>" => overflow(x.checked_shr(b)),
                "&" => Ok(a & b),
                "|" => Ok(a | b),
                "^" => Ok(a ^ b),
                _ => ordered(Some(x.cmp(&y))).map_or_else(bad, Ok),
            }
        }
        Scalar::Uint => match operator {
            "+" => overflow_unsigned(a.checked_add(b)),
            "-" => overflow_unsigned(a.checked_sub(b)),
            "*" => overflow_unsigned(a.checked_mul(b)),
            "/" => overflow_unsigned(a.checked_div(b)),
            "%" => overflow_unsigned(a.checked_rem(b)),
            "<<" => overflow_unsigned(a.checked_shl(b)),
            ">>" => overflow_unsigned(a.checked_shr(b)),
            "&" => Ok(a & b),
            "|" => Ok(a | b),
            "^" => Ok(a ^ b),
            _ => ordered(Some(a.cmp(&b))).map_or_else(bad, Ok),
        },
        Scalar::Float => {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            let finite = |value: f32| {
                if value.is_finite() {
                    Ok(value.to_bits())
                } else {
                    Err("overflows, or divides by zero".to_owned())
                }
            };
            match operator {
                "+" => finite(x + y),
                "-" => finite(x - y),
                "*" => finite(x * y),
                "/" => finite(x / y),
                _ => ordered(x.partial_cmp(&y)).map_or_else(bad, Ok),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<String, String> {
        let lookup = |name: &str| (name == "N").then(|| Constant::int(3));
        evaluate(text, &lookup).map(|value| value.to_string())
    }

    #[test]
    fn expressions() {
        for (text, expected) in [
            ("N * 2 + 1", "7"),
            ("1 + N * 2", "7"),
            ("-(N - 5)", "2"),
            ("8 - 4 - 2", "2"),
            ("(1 << N) | 1", "9"),
            ("0x10u + 1u", "17"),
            ("N / 2.0", "1.5"),
            ("vec3(1, N, 0.5) * 2", "vec3(2.0, 6.0, 1.0)"),
            ("ivec2(N)", "ivec2(3, 3)"),
            ("!(N > 2) || N == 3", "true"),
            ("float(1u)", "1.0"),
        ] {
            assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
        }
        for bad in [
            "",
            "N +",
            "M",
            "(N",
            "N N",
            "1 / 0",
            "2147483647 + 1",
            "3000000000",
            "vec2(1,2,3)",
            "!N",
            "true + 1",
            "1e99",
            "vec2(1) < vec2(2)",
        ] {
            assert!(value(bad).is_err(), "{bad}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"-".repeat(100_000)).is_err());
    }
}
