package shop

import (
	"fmt"
	pay "example.com/shop/payment/v2"
	. "example.com/shop/dots"
)

const Limit = 10

var defaults, extra = 1, 2

type Payable interface {
	Pay(amount int) error
}

// Basket holds things.
type Basket struct {
	Store
	*pay.Card
	items []string
}

type ID = string
type Handler func(*Basket)

func New(items ...string) *Basket {
	return &Basket{items: items}
}

func (b *Basket) Pay(amount int) error {
	fmt.Println(Limit)
	return pay.Charge(b.total(), amount)
}

func (b Basket) total() int { return len(b.items) }
