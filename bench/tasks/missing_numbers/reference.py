def missing_numbers(numbers):
    return [n for n in range(min(numbers), max(numbers)) if n not in numbers] if numbers else []
