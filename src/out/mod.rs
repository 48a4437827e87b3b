//! Output: the consumers of final instructions and of data.

pub mod sections;
pub mod text;
