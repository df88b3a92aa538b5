#include <stdio.h>
#include "prices.h"

#define LIMIT 10
#define TWICE(x) ((x) * 2)

typedef struct basket {
    int count;
} basket_t;

enum size { SMALL, LARGE };

static int rate = 3;

int total(const basket_t *b);

/* Sums it up. */
static int *
items_of(basket_t *b)
{
    return price_list(b->count);
}

int total(const basket_t *b) { return TWICE(b->count) + b->ops->sum(rate); }
