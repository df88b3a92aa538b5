package com.example.shop

import com.example.pay.{Card, Price => Cost}
import scala.collection.mutable

trait Payable { def pay(amount: Int): Unit }

case class Item(name: String, price: Int)

class Basket(id: String) extends Store(id) with Payable {
  val items = mutable.ListBuffer[Item]()
  def pay(amount: Int): Unit = { card.charge(total(amount)) }
  private def total(tax: Int): Int = items.map(_.price).sum + tax
}

object Basket {
  def create(): Basket = new Basket("x")
}
