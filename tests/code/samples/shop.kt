package com.example.shop

import com.example.pay.Card
import com.example.pay.charge as pay

const val LIMIT = 10

interface Payable {
    fun pay(amount: Int)
}

data class Basket(val id: String) : Store<String>(id), Payable {
    val items = mutableListOf<Item>()
    override fun pay(amount: Int) { pay(amount).also { println(it) } }
    companion object Factory {
        fun create(): Basket = Basket("x")
    }
}

object Till {
    fun open() {}
}

fun Basket.total(): Int = items.sumOf { it.price }
typealias Id = String
enum class Size { SMALL, LARGE }
