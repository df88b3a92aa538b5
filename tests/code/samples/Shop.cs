using System;
using Pay = Example.Payments;

namespace Example.Shop
{
    public interface IPayable { void Pay(int amount); }

    [Serializable]
    public class Basket<T> : Store<T>, IPayable
    {
        private readonly List<Item> items = new List<Item>();
        public int Limit { get; set; } = 3;
        public Basket(int id) : base(id) { }
        public async Task Pay(int amount)
        {
            await Pay.Charge(Total(amount));
            items?.Clear();
        }
        private int Total(int tax) => items.Sum<Item>(i => i.Price) + tax;
    }

    public enum Size { Small, Large }
    public record Item(string Name, int Price);
    public struct Point { public int X; }
}
