def mask_email(address):
    name, _, domain = address.partition("@")
    if not name or not domain or "@" in domain:
        raise ValueError(address)
    return name[0] + "*" * (len(name) - 1) + "@" + domain
