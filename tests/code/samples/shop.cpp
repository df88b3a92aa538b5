#include <vector>
#include "prices.hpp"

namespace shop {

template <typename T>
class Basket : public Store<T>, private detail::Base {
public:
    Basket(int n) : n_(n) {}
    int total() const;
    virtual ~Basket() = default;
private:
    int n_;
};

struct Point { int x, y; };
enum class Size { Small, Large };
using Id = std::string;

}  // namespace shop

int shop::Basket::total() const { return prices::of(n_) + helper(n_)->value(); }

static std::vector<int> make(int n) { auto *b = new Basket(n); return b->all(); }
