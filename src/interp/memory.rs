//! The interpreter's memory: objects with bounds, bytes with definedness.
//!
//! Addresses look like a real machine's: code, data, heap and stack lie far apart, and between two
//! objects there is always a gap that belongs to neither. An object is placed at exactly the
//! alignment it asked for and no more, so that code which assumes more shows itself. The bytes of
//! a region are one array that addresses index.

use super::Stop;
use super::value::Bits;
use crate::index::Index;
use crate::ir::SymbolId;

const CODE: u64 = 0x5555_0000_0000;
const DATA: u64 = 0x5560_0000_0000;
const HEAP: u64 = 0x5580_0000_0000;
const STACK: u64 = 0x7ff0_0000_0000;
/// Bytes from the address of one function to that of the next.
const FUNCTION_SIZE: u64 = 16;
/// Bytes between objects that belong to none.
const GAP: u64 = 16;

/// A part of the address space.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Space {
    Data,
    Heap,
    Stack,
}

/// An object, as offsets into its region.
#[derive(Copy, Clone, Debug)]
struct Object {
    start: u64,
    size: u64,
    /// False once it is freed.
    live: bool,
}

#[derive(Debug)]
struct Region {
    base: u64,
    /// In increasing order of address.
    objects: Vec<Object>,
    bytes: Vec<u8>,
    /// Beside each byte, a one for each of its bits that is undefined.
    undefined: Vec<u8>,
}

/// All objects of a run.
#[derive(Debug)]
pub struct Memory {
    data: Region,
    heap: Region,
    stack: Region,
    limit: u64,
    /// What fresh bytes hold, where undefined bits are not tracked.
    fill: Option<u8>,
}

/// How much of the stack was in use.
#[derive(Copy, Clone, Debug)]
pub struct Mark {
    objects: usize,
    bytes: usize,
}

/// Where an access lies: its region, and the offset there.
type Place = (Space, usize);

impl Region {
    fn new(base: u64) -> Region {
        Region { base, objects: Vec::new(), bytes: Vec::new(), undefined: Vec::new() }
    }

    fn add(&mut self, size: u64, align: u64, fill: Option<u8>) -> u64 {
        let gap = self.bytes.len() as u64 + GAP;
        // A multiple of `align`, but not of twice that.
        let start = gap.div_ceil(2 * align) * 2 * align + align;
        let end = (start + size) as usize;
        self.bytes.resize(end, fill.unwrap_or(0));
        self.undefined.resize(end, if fill.is_some() { 0 } else { 0xff });
        self.objects.push(Object { start, size, live: true });
        self.base + start
    }

    /// The object that holds `size` bytes at an offset.
    fn find(&self, offset: u64, size: u64) -> Option<&Object> {
        let after = self.objects.partition_point(|object| object.start <= offset);
        let object = &self.objects[after.checked_sub(1)?];
        let end = object.start + object.size;
        (object.live && offset <= end && size <= end - offset).then_some(object)
    }
}

impl Memory {
    /// Empty memory of at most `limit` bytes. With `fill`, fresh bytes are defined to be that.
    pub fn new(limit: u64, fill: Option<u8>) -> Memory {
        Memory {
            data: Region::new(DATA),
            heap: Region::new(HEAP),
            stack: Region::new(STACK),
            limit,
            fill,
        }
    }

    fn region(&self, space: Space) -> &Region {
        match space {
            Space::Data => &self.data,
            Space::Heap => &self.heap,
            Space::Stack => &self.stack,
        }
    }

    fn region_mut(&mut self, space: Space) -> &mut Region {
        match space {
            Space::Data => &mut self.data,
            Space::Heap => &mut self.heap,
            Space::Stack => &mut self.stack,
        }
    }

    /// Makes an object of undefined bytes and returns its address. `align` is a power of two.
    pub fn allocate(&mut self, space: Space, size: u64, align: u64) -> Result<u64, Stop> {
        let used = self.data.bytes.len() + self.heap.bytes.len() + self.stack.bytes.len();
        let wanted = size.saturating_add(align.saturating_mul(3)).saturating_add(GAP);
        if wanted > self.limit.saturating_sub(used as u64) {
            return Err(Stop::Limit("memory"));
        }
        let fill = self.fill;
        Ok(self.region_mut(space).add(size, align, fill))
    }

    /// The address of a function, in or out of the module.
    pub fn code_address(symbol: SymbolId) -> u64 {
        CODE + FUNCTION_SIZE * symbol.index() as u64
    }

    /// The row of the function at an address, among `count` symbols.
    pub fn symbol_at(address: u64, count: usize) -> Option<SymbolId> {
        let offset = address.checked_sub(CODE)?;
        let row = (offset / FUNCTION_SIZE) as usize;
        (offset % FUNCTION_SIZE == 0 && row < count).then(|| SymbolId::new(row))
    }

    /// The symbol whose code address range holds an address.
    pub fn symbol_around(address: u64, count: usize) -> Option<SymbolId> {
        Memory::symbol_at(address - address % FUNCTION_SIZE, count)
    }

    pub fn mark(&self) -> Mark {
        Mark { objects: self.stack.objects.len(), bytes: self.stack.bytes.len() }
    }

    /// Frees all stack objects made since `mark`.
    pub fn release(&mut self, mark: Mark) {
        self.stack.objects.truncate(mark.objects);
        self.stack.bytes.truncate(mark.bytes);
        self.stack.undefined.truncate(mark.bytes);
    }

    /// Frees a heap object; false if there is none that starts at the address.
    pub fn free(&mut self, address: u64) -> bool {
        let Some(offset) = address.checked_sub(HEAP) else { return false };
        let row = self.heap.objects.binary_search_by_key(&offset, |object| object.start);
        match row.map(|row| &mut self.heap.objects[row]) {
            Ok(object) if object.live => {
                object.live = false;
                true
            }
            _ => false,
        }
    }

    /// The size of the heap object that starts at an address.
    pub fn heap_size(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(HEAP)?;
        let object = self.heap.find(offset, 0)?;
        (object.start == offset).then_some(object.size)
    }

    fn place(&self, address: u64, size: u64) -> Option<Place> {
        let space = match address {
            STACK.. => Space::Stack,
            HEAP.. => Space::Heap,
            DATA.. => Space::Data,
            _ => return None,
        };
        let region = self.region(space);
        let offset = address - region.base;
        region.find(offset, size).map(|_| (space, offset as usize))
    }

    /// Whether `size` bytes at an address lie in one object.
    pub fn is_valid(&self, address: u64, size: u64) -> bool {
        self.place(address, size).is_some()
    }

    /// Reads up to 8 bytes as a little-endian number; `None` out of bounds.
    #[inline]
    pub fn load(&self, address: u64, size: u32) -> Option<Bits> {
        let (space, offset) = self.place(address, u64::from(size))?;
        let region = self.region(space);
        let end = offset + size as usize;
        let number =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        Some(Bits {
            value: number(&region.bytes[offset..end]),
            undefined: number(&region.undefined[offset..end]),
        })
    }

    /// Writes the low `size` bytes of a number; `None` out of bounds.
    #[inline]
    pub fn store(&mut self, address: u64, size: u32, value: Bits) -> Option<()> {
        let (space, offset) = self.place(address, u64::from(size))?;
        let region = self.region_mut(space);
        let end = offset + size as usize;
        let (value, undefined) = (value.value.to_le_bytes(), value.undefined.to_le_bytes());
        region.bytes[offset..end].copy_from_slice(&value[..size as usize]);
        region.undefined[offset..end].copy_from_slice(&undefined[..size as usize]);
        Some(())
    }

    /// The bytes of a range and their undefined bits; `None` out of bounds.
    pub fn read(&self, address: u64, size: u64) -> Option<(&[u8], &[u8])> {
        if size == 0 {
            return Some((&[], &[]));
        }
        let (space, offset) = self.place(address, size)?;
        let region = self.region(space);
        let range = offset..offset + size as usize;
        Some((&region.bytes[range.clone()], &region.undefined[range]))
    }

    /// Writes defined bytes; `None` out of bounds.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        let (space, offset) = self.place(address, bytes.len() as u64)?;
        let region = self.region_mut(space);
        let range = offset..offset + bytes.len();
        region.bytes[range.clone()].copy_from_slice(bytes);
        region.undefined[range].fill(0);
        Some(())
    }

    /// Copies bytes with their definedness; the ranges may overlap. `None` out of bounds.
    pub fn copy(&mut self, from: u64, to: u64, size: u64) -> Option<()> {
        if size == 0 {
            return Some(());
        }
        let (bytes, undefined) = self.read(from, size)?;
        let (bytes, undefined) = (bytes.to_vec(), undefined.to_vec());
        let (space, offset) = self.place(to, size)?;
        let region = self.region_mut(space);
        let range = offset..offset + bytes.len();
        region.bytes[range.clone()].copy_from_slice(&bytes);
        region.undefined[range].copy_from_slice(&undefined);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(1 << 16, None)
    }

    #[test]
    fn accesses_stay_inside_an_object() {
        let mut memory = memory();
        let a = memory.allocate(Space::Data, 6, 4).expect("room");
        let b = memory.allocate(Space::Data, 8, 8).expect("room");
        assert_eq!((a % 8, b % 16), (4, 8));
        assert!(memory.load(a + 2, 4).is_some());
        for (address, size) in
            [(a + 3, 4), (a - 1, 1), (b - 1, 2), (b + 8, 1), (0, 1), (u64::MAX, 8)]
        {
            assert!(memory.load(address, size).is_none(), "{address:#x}");
        }
    }

    #[test]
    fn definedness_travels_with_the_bytes() {
        let mut memory = memory();
        let a = memory.allocate(Space::Heap, 8, 16).expect("room");
        assert_eq!(memory.load(a, 2), Some(Bits { value: 0, undefined: 0xffff }));
        memory.store(a + 1, 1, Bits::defined(0x5a)).expect("in bounds");
        assert_eq!(memory.load(a, 2), Some(Bits { value: 0x5a00, undefined: 0xff }));
        memory.copy(a, a + 1, 2).expect("in bounds");
        assert_eq!(memory.load(a + 2, 1), Some(Bits::defined(0x5a)));
        assert!(memory.free(a));
        assert!(!memory.free(a));
        assert_eq!(memory.load(a, 1), None);
    }

    #[test]
    fn the_stack_is_released_and_memory_has_a_limit() {
        let mut memory = memory();
        let mark = memory.mark();
        let a = memory.allocate(Space::Stack, 100, 16).expect("room");
        memory.release(mark);
        assert!(!memory.is_valid(a, 1));
        assert!(memory.allocate(Space::Stack, 1 << 16, 4).is_err());
        assert!(memory.allocate(Space::Stack, u64::MAX, 4).is_err());
    }
}
