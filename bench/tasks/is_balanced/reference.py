def is_balanced(text):
    pairs, stack = {")": "(", "]": "[", "}": "{"}, []
    for sign in text:
        if sign in "([{":
            stack.append(sign)
        elif sign in pairs and (not stack or stack.pop() != pairs[sign]):
            return False
    return not stack
