import {price} from './price.js'
export const LIMIT = 3
export class Basket {
  add(item, count = 1) {
    if (count > LIMIT) throw new Error('too many')
    return price(item)
  }
}
module.exports = { Basket }
