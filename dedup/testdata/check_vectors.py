"""Recomputes every key of vectors.json from the string recorded beside it.

Needs nothing but Python itself; any other program can do the same.
"""

import hashlib
import json
import re
import sys


def key_of(hashed):
    return "idem:" + hashlib.sha256(hashed.encode()).hexdigest()[:32]


def canonical(texts):
    if any("|" in text for text in texts.values()):
        texts = {name: text.replace("\\", "\\\\").replace("|", "\\|") for name, text in texts.items()}
        return "|".join(sorted(f"{name}={text}" for name, text in texts.items())) + "|"
    return "|".join(sorted(f"{name}={text}" for name, text in texts.items()))


def main(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    checked = 0
    for vector in vectors["identities"]:
        assert key_of(vector["canonical"]) == vector["key"], vector
        strings = {f["name"]: json.loads(f["json"]) for f in vector["fields"]}
        if all(isinstance(s, str) and re.fullmatch(r"[\x21-\x7a|]+", s) for s in strings.values()):
            assert canonical(strings) == vector["canonical"], vector
        checked += 1
    for group in ("request_key", "job_key", "webhook_key"):
        for vector in vectors[group]:
            assert vector["key"] == (key_of(vector["hashed"]) if vector["hashed"] else ""), vector
            checked += 1
    for vector in vectors["client_key"]:
        own = (vector["namespace"] + ":" + vector["value"].strip('"')) if vector["value"].strip('"') else ""
        assert vector["key"] == (key_of(vector["hashed"]) if vector["hashed"] else own), vector
        checked += 1
    print(checked)


main(sys.argv[1])
