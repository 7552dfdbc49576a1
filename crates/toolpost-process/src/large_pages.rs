//! An allocator for a program that holds whole files: large allocations get large pages of memory, where Linux gives them to
//! who asks. The first touch of 10 MB then costs some five hundred page faults instead of 2,560.

#![expect(unsafe_code, reason = "an allocator, and a hint to the kernel about its memory")]

use std::alloc::{GlobalAlloc, Layout};

/// Allocations of so many bytes ask for large pages.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// An allocator, which asks for large pages where much is allocated. For `#[global_allocator]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LargePages<A>(pub A);

// SAFETY: all memory comes from the inner allocator and goes back to it; beside that there is only a hint.
unsafe impl<A: GlobalAlloc> GlobalAlloc for LargePages<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller promises is what the inner allocator asks for.
        hinted(unsafe { self.0.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        hinted(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { self.0.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        hinted(unsafe { self.0.realloc(memory, layout, size) }, size)
    }
}

/// The same memory, for whose whole pages large ones are asked.
#[cfg(target_os = "linux")]
#[inline]
fn hinted(memory: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !memory.is_null() {
        let page = rustix::param::page_size();
        let skipped = memory.align_offset(page);
        let whole = size.saturating_sub(skipped) / page * page;
        // SAFETY: the range lies inside the allocation, and this advice changes nothing that is in it. Where the kernel
        // does not take it, pages are as they always are.
        unsafe { libc::madvise(memory.wrapping_add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    memory
}

/// Only Linux is asked for large pages.
#[cfg(not(target_os = "linux"))]
fn hinted(memory: *mut u8, _: usize) -> *mut u8 {
    memory
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::LargePages;
    use std::alloc::{GlobalAlloc as _, Layout, System};

    #[test]
    fn memory_is_whole_however_large_it_is() {
        let sizes = [1, 4095, (4 << 20) - 1, 4 << 20, (9 << 20) + 7];
        for size in sizes {
            for wanted in sizes {
                let layout = Layout::from_size_align(size, 8).expect("a size");
                let after = Layout::from_size_align(wanted, 8).expect("a size");
                // SAFETY: the sizes are not 0, and nothing is touched beyond them or after it is freed.
                unsafe {
                    let memory = LargePages(System).alloc_zeroed(layout);
                    assert!(std::slice::from_raw_parts(memory, size).iter().all(|byte| *byte == 0));
                    memory.write_bytes(7, size);
                    let memory = LargePages(System).realloc(memory, layout, wanted);
                    let kept = std::slice::from_raw_parts(memory, size.min(wanted));
                    assert!(kept.iter().all(|byte| *byte == 7), "{size} to {wanted}");
                    LargePages(System).dealloc(memory, after);
                }
            }
        }
    }
}
