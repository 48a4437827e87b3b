//! A compiler backend for QBE's intermediate language, as a library.
//!
//! [`compile`] takes texts and gives assembly; the parts behind it are public too. A compilation
//! is a value: no globals, no printing, no exit. Modules stand in the order of the data flow, and
//! a module uses only the ones above it.

#![deny(unsafe_code)]

pub mod error;
pub mod index;

pub mod ir;

pub mod parse;

pub mod analysis;

pub mod interp;

pub mod target;

pub mod opt;

pub mod regalloc;

pub mod out;

pub mod options;
pub mod pipeline;

mod compile;

pub use compile::{Input, Output, compile, compile_module, parse_inputs};
pub use error::Error;
pub use options::{Emit, Level, Options};
