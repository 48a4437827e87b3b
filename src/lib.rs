//! A compiler backend for QBE's intermediate language, as a library.
//!
//! [`compile`] takes texts and gives assembly; the parts behind it are public too. A compilation
//! is a value: no globals, no printing, no exit. Modules stand in the order of the data flow, and
//! a module uses only the ones above it.
//!
//! ```
//! use backend::{Input, Options, compile, target};
//!
//! let text = b"export function w $three() {\n@start\n\tret 3\n}\n";
//! let options = Options::new(target::by_name("amd64_sysv").unwrap());
//! let output = compile(&[Input { name: "three.ssa", text }], &options).unwrap();
//! assert!(String::from_utf8(output.bytes).unwrap().contains("movl $3, %eax"));
//!
//! let errors = compile(&[Input { name: "bad.ssa", text: b"function" }], &options).unwrap_err();
//! assert!(errors[0].to_string().starts_with("bad.ssa:1:"));
//! ```
//!
//! Modules can also be built without text: see [`ir::build`].

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
