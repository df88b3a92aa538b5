import type { Card } from './card';
import { charge } from "@shop/pay";
export * from './other';

export interface Payable extends Card {
  pay(amount: number): Promise<void>;
}
export type Id = string | number;
export enum Size { Small, Large }
export abstract class Basket<T> extends Store<T> implements Payable {
  private limit: number = 3;
  constructor(readonly id: Id) { super(); }
  abstract size(): number;
  async pay(amount: number): Promise<void> { await charge(this.id, amount); }
}
export function make(id: Id): Basket<string> { return new Big(id); }
export const helper = async (x: Id): Promise<Id> => x;
namespace Inner { export function deep(): void {} }
