'use strict';
const { price, tax: vat } = require('./prices');
import Stock, { count as howMany } from '../stock.js';
import * as util from 'util';
var app = exports = module.exports = {};

class Basket extends Stock {
  #items = [];
  total(x) { return price(x) + vat; }
  pay = async (card) => { await card.charge(howMany(this)); };
}

function plain(a, b) { return new Basket(a); }
const arrow = (x) => util.inspect(x);
export const shout = function (x) { return x.toUpperCase(); };
app.use = function use(fn) { return plain(fn); };
Basket.prototype.refund = function () { return this; };
exports.create = () => new Basket();
defineGetter(app, 'secure', function secure() { return true; });
export default class Till {}
