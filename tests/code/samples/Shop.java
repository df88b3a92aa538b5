package com.example.shop;

import com.example.pay.Card;
import static com.example.pay.Prices.of;
import java.util.*;

/** The basket. */
@Deprecated
public class Shop<T> extends Store<T> implements Payable, Comparable<Shop> {
    private final List<Item> items = new ArrayList<>();
    enum Size { SMALL, LARGE }
    interface Visitor { void visit(Item item); }
    record Item(String name, int price) {}

    public Shop(Card card) { super(card); }

    @Override
    public int total(int tax) throws Exception {
        return of(items).sum() + card.fee(tax);
    }
}
