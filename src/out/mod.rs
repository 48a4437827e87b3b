//! Output: the consumers of final instructions and of data.

pub mod debug_text;
pub mod object;
pub mod sections;
pub mod split;
pub mod text;
