require 'json'
require_relative 'prices'

module Shop
  LIMIT = 10

  class Basket < Store::Base
    include Payable

    attr_reader :items

    def initialize(items)
      @items = items
    end

    def total(tax: 0)
      Prices.of(items) + tax
    end

    def self.create(*args)
      new(args)
    end
  end
end

def helper(x)
  x.upcase
end
