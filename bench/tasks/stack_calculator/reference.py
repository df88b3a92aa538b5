import operator


def calculate(expression):
    stack, operations = [], {"+": operator.add, "-": operator.sub, "*": operator.mul}
    for part in expression.split():
        if part in operations:
            if len(stack) < 2:
                raise ValueError(expression)
            right, left = stack.pop(), stack.pop()
            stack.append(operations[part](left, right))
        else:
            stack.append(int(part))
    if len(stack) != 1:
        raise ValueError(expression)
    return stack[0]
