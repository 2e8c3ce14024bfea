//! Composing of shaders from classes.

mod documented;
mod errors;
mod guide;
mod made_by_hand;
mod result;
mod tools;
