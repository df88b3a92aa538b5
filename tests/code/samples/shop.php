<?php
namespace App\Shop;

use App\Pay\Card;
use App\Pay\{Price, Tax as Vat};
require_once 'prices.php';

interface Payable { public function pay(int $amount): void; }

trait Counts { public function count(): int { return 1; } }

final class Basket extends Store implements Payable
{
    use Counts;
    const LIMIT = 3;
    private array $items = [];

    public function __construct(private Card $card) {}

    public function pay(int $amount): void
    {
        $this->card->charge(Price::of($amount) + helper(new Vat()));
    }
}

enum Size { case Small; }

function helper(Vat $v): int { return strlen($v); }
