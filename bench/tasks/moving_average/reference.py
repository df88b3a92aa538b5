def moving_average(numbers, size):
    return [sum(numbers[i:i + size]) / size for i in range(len(numbers) - size + 1)]
