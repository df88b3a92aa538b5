import Foundation

let limit = 10

protocol Payable {
    func pay(_ amount: Int) throws
}

class Basket: Store, Payable {
    var items: [Item] = []
    init(id: String) { super.init(id) }
    func pay(_ amount: Int) throws {
        try card.charge(total(amount))
    }
}

struct Point { let x: Int }
enum Size { case small, large }

extension Basket {
    func total(_ tax: Int) -> Int { return Prices.of(items) + tax }
}

func helper(_ x: Int) -> Int { return x }
typealias Id = String
