use std::collections::HashMap;
use crate::pay::{charge, Card as Plastic, fees::{self, Fee}};
mod prices;

pub const LIMIT: u32 = 10;

/// A basket.
#[derive(Debug)]
pub struct Basket<T> { items: Vec<T> }

pub enum Size { Small, Large }

pub trait Payable: Sized {
    fn pay(&self, amount: u32) -> Result<(), Error>;
}

impl<T> Payable for Basket<T> {
    fn pay(&self, amount: u32) -> Result<(), Error> {
        charge(self.total(), amount)?;
        println!("{}", fees::of(amount));
        Ok(())
    }
}

impl<T> Basket<T> {
    pub fn new() -> Self { Basket { items: Vec::new() } }
}

macro_rules! basket { () => { Basket::new() } }

mod inner { pub fn deep() {} }
