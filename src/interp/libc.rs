//! The libc functions the interpreter knows.

use super::format::{Arguments, Text};
use super::machine::Machine;
use super::memory::Space;
use super::{Bits, Stop, Trap};
use crate::ir::{AbiType, Class, SymbolId};

/// The alignment of `malloc`'s blocks.
const HEAP_ALIGN: u64 = 16;

impl Machine<'_> {
    /// Calls a function outside the module; its result, undefined if it has none.
    pub fn call_libc(
        &mut self,
        symbol: SymbolId,
        passed: &[(AbiType, Bits)],
    ) -> Result<Bits, Stop> {
        let name = self.module.symbols.name(symbol);
        let name = name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\"")).unwrap_or(name);
        let known = match name {
            b"printf" | b"sprintf" | b"snprintf" | b"vprintf" | b"puts" | b"putchar" => {
                self.call_printing(name, passed)?
            }
            b"malloc" | b"calloc" | b"realloc" | b"free" => self.call_heap(name, passed)?,
            b"memcpy" | b"memmove" | b"memset" | b"memcmp" => self.call_memory(name, passed)?,
            b"strlen" | b"strcmp" | b"strncmp" | b"strcpy" | b"strcat" | b"strchr" => {
                self.call_string(name, passed)?
            }
            _ => self.call_arithmetic(name, passed)?,
        };
        known.ok_or_else(|| {
            Stop::Unsupported(format!(
                "${}",
                String::from_utf8_lossy(self.module.symbols.name(symbol))
            ))
        })
    }

    /// An argument that something depends on.
    fn known(&self, passed: &[(AbiType, Bits)], i: usize, class: Class) -> Result<u64, Stop> {
        let bits = match passed.get(i) {
            Some(&(ty, bits)) if ty.class().is_float() == class.is_float() => bits,
            _ => Bits::UNDEFINED,
        };
        self.decide(bits.cut(class), "an argument of a library function")
    }

    fn address(&self, passed: &[(AbiType, Bits)], i: usize) -> Result<u64, Stop> {
        self.known(passed, i, Class::L)
    }

    fn call_printing(
        &mut self,
        name: &[u8],
        passed: &[(AbiType, Bits)],
    ) -> Result<Option<Bits>, Stop> {
        let text = match name {
            b"putchar" => self.format(b"%c", Arguments::Passed(passed))?,
            b"puts" => {
                let mut bytes = self.string(self.address(passed, 0)?)?;
                bytes.push(b'\n');
                Text { bytes, unknown: Vec::new() }
            }
            b"printf" => {
                let template = self.string(self.address(passed, 0)?)?;
                self.format(&template, Arguments::Passed(&passed[1..]))?
            }
            b"vprintf" => {
                let template = self.string(self.address(passed, 0)?)?;
                let list = self.address(passed, 1)?;
                self.format(&template, Arguments::List(list))?
            }
            _ => return self.print_to_memory(name, passed).map(Some),
        };
        let start = self.output.len();
        if (start + text.bytes.len()) as u64 > self.limits.memory {
            return Err(Stop::Limit("output"));
        }
        self.output.extend_from_slice(&text.bytes);
        self.unknown_output.extend(text.unknown.iter().map(|i| start + i));
        let result = match name {
            b"putchar" => u64::from(text.bytes[0]),
            _ => text.bytes.len() as u64,
        };
        Ok(Some(Bits::defined(result)))
    }

    /// `sprintf` and `snprintf`.
    fn print_to_memory(&mut self, name: &[u8], passed: &[(AbiType, Bits)]) -> Result<Bits, Stop> {
        let to = self.address(passed, 0)?;
        let (fixed, room) = match name {
            b"sprintf" => (2, u64::MAX),
            _ => (3, self.known(passed, 1, Class::L)?),
        };
        let template = self.string(self.address(passed, fixed - 1)?)?;
        let rest = passed.get(fixed..).unwrap_or_default();
        let text = self.format(&template, Arguments::Passed(rest))?;
        let length = text.bytes.len();
        let kept = length.min(room.saturating_sub(1) as usize);
        if room > 0 {
            self.write_bytes(to, &[&text.bytes[..kept], b"\0"].concat())?;
            for &i in text.unknown.iter().filter(|&&i| i < kept) {
                let unknown = self.memory.store(to + i as u64, 1, Bits::UNDEFINED);
                unknown.expect("it was just written");
            }
        }
        Ok(Bits::defined(length as u64))
    }

    fn call_heap(&mut self, name: &[u8], passed: &[(AbiType, Bits)]) -> Result<Option<Bits>, Stop> {
        let first = self.known(passed, 0, Class::L)?;
        let address = match name {
            b"malloc" => self.memory.allocate(Space::Heap, first, HEAP_ALIGN)?,
            b"calloc" => {
                let size = first.saturating_mul(self.known(passed, 1, Class::L)?);
                let address = self.memory.allocate(Space::Heap, size, HEAP_ALIGN)?;
                self.write_bytes(address, &vec![0; size as usize])?;
                address
            }
            b"realloc" => {
                let size = self.known(passed, 1, Class::L)?;
                let address = self.memory.allocate(Space::Heap, size, HEAP_ALIGN)?;
                if first != 0 {
                    let old = self.memory.heap_size(first).ok_or_else(|| self.bad_block(first))?;
                    self.copy_bytes(first, address, old.min(size))?;
                    self.memory.free(first);
                }
                address
            }
            _ => {
                if first != 0 && !self.memory.free(first) {
                    return Err(self.bad_block(first));
                }
                0
            }
        };
        Ok(Some(Bits::defined(address)))
    }

    fn bad_block(&self, address: u64) -> Stop {
        self.trap(Trap::Bounds, &format!("{address:#x} is not a live block of malloc,"))
    }

    fn call_memory(
        &mut self,
        name: &[u8],
        passed: &[(AbiType, Bits)],
    ) -> Result<Option<Bits>, Stop> {
        let to = self.address(passed, 0)?;
        let size = self.known(passed, 2, Class::L)?;
        match name {
            b"memset" => {
                let byte = passed.get(1).map_or(Bits::UNDEFINED, |&(_, bits)| bits);
                if !self.memory.is_valid(to, size) && size > 0 {
                    return Err(self.out_of_bounds("memset", to, size));
                }
                for i in 0..size {
                    self.memory.store(to + i, 1, byte).expect("it was checked");
                }
            }
            b"memcmp" => {
                let from = self.address(passed, 1)?;
                for i in 0..size {
                    let (a, b) = (self.byte(to + i)?, self.byte(from + i)?);
                    if a != b {
                        return Ok(Some(difference(a, b)));
                    }
                }
                return Ok(Some(Bits::ZERO));
            }
            _ => {
                let from = self.address(passed, 1)?;
                self.copy_bytes(from, to, size)?;
            }
        }
        Ok(Some(Bits::defined(to)))
    }

    fn call_string(
        &mut self,
        name: &[u8],
        passed: &[(AbiType, Bits)],
    ) -> Result<Option<Bits>, Stop> {
        let first = self.address(passed, 0)?;
        let value = match name {
            b"strlen" => self.string(first)?.len() as u64,
            b"strchr" => {
                let wanted = self.known(passed, 1, Class::W)? as u8;
                let mut string = self.string(first)?;
                string.push(0);
                let found = string.iter().position(|&byte| byte == wanted);
                found.map_or(0, |i| first + i as u64)
            }
            b"strcpy" | b"strcat" => {
                let mut text = self.string(self.address(passed, 1)?)?;
                text.push(0);
                let skip = if name == b"strcat" { self.string(first)?.len() as u64 } else { 0 };
                self.write_bytes(first + skip, &text)?;
                first
            }
            _ => {
                let second = self.address(passed, 1)?;
                let limit = match name {
                    b"strncmp" => self.known(passed, 2, Class::L)?,
                    _ => u64::MAX,
                };
                for i in 0..limit {
                    let (a, b) = (self.byte(first + i)?, self.byte(second + i)?);
                    if a != b {
                        return Ok(Some(difference(a, b)));
                    }
                    if a == 0 {
                        break;
                    }
                }
                0
            }
        };
        Ok(Some(Bits::defined(value)))
    }

    fn call_arithmetic(
        &mut self,
        name: &[u8],
        passed: &[(AbiType, Bits)],
    ) -> Result<Option<Bits>, Stop> {
        Ok(Some(Bits::defined(match name {
            b"abort" => return Err(self.trap(Trap::Abort, "abort")),
            b"exit" => return Err(Stop::Exit(self.known(passed, 0, Class::W)? as i32)),
            b"abs" => u64::from((self.known(passed, 0, Class::W)? as i32).unsigned_abs()),
            b"labs" | b"llabs" => (self.known(passed, 0, Class::L)? as i64).unsigned_abs(),
            b"fabs" => f64::from_bits(self.known(passed, 0, Class::D)?).abs().to_bits(),
            b"fabsf" => {
                let value = f32::from_bits(self.known(passed, 0, Class::S)? as u32);
                u64::from(value.abs().to_bits())
            }
            b"sqrt" => f64::from_bits(self.known(passed, 0, Class::D)?).sqrt().to_bits(),
            _ => return Ok(None),
        })))
    }

    fn byte(&self, address: u64) -> Result<u8, Stop> {
        let bits =
            self.memory.load(address, 1).ok_or_else(|| self.out_of_bounds("a read", address, 1))?;
        Ok(self.decide(bits, "a library function")? as u8)
    }

    /// The bytes of a NUL-terminated string.
    pub fn string(&self, address: u64) -> Result<Vec<u8>, Stop> {
        self.string_up_to(address, u64::MAX)
    }

    /// The bytes of a string that ends at a NUL or at `limit`.
    pub fn string_up_to(&self, address: u64, limit: u64) -> Result<Vec<u8>, Stop> {
        let mut text = Vec::new();
        while (text.len() as u64) < limit {
            match self.byte(address + text.len() as u64)? {
                0 => break,
                byte => text.push(byte),
            }
        }
        Ok(text)
    }

    fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), Stop> {
        let done = self.memory.write(address, bytes);
        done.ok_or_else(|| self.out_of_bounds("a write", address, bytes.len() as u64))
    }

    fn copy_bytes(&mut self, from: u64, to: u64, size: u64) -> Result<(), Stop> {
        let done = self.memory.copy(from, to, size);
        done.ok_or_else(|| self.out_of_bounds("a copy", from, size))
    }
}

/// What a comparison of strings returns: the sign is what counts, the rest is the library's.
fn difference(a: u8, b: u8) -> Bits {
    Bits::defined((i64::from(a) - i64::from(b)) as u64)
}
