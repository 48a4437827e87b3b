//! Output: the consumers of final instructions and of data.

pub mod text;
