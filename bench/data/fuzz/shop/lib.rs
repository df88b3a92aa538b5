use std::fmt;
pub const SIZE: usize = 4;
#[derive(Debug)]
pub struct Pool { size: usize }
impl Pool {
    pub fn new(size: usize) -> Self { Pool { size } }
}
