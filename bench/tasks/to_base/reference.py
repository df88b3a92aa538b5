def to_base(number, base):
    digits, rest = "", abs(number)
    while rest:
        digits = "0123456789abcdef"[rest % base] + digits
        rest //= base
    return ("-" if number < 0 else "") + (digits or "0")
