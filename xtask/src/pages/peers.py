"""Reads the pages below a folder with trafilatura: `peers.py FROM TO ROUNDS`."""

import json
import os
import sys
import time

import trafilatura

source, target, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
names = sorted(name for name in os.listdir(source) if name.endswith(".html"))
pages = [(name, open(os.path.join(source, name), "rb").read()) for name in names]


def markdown(page):
    return trafilatura.extract(
        page,
        url="https://site.example/a/page.html",
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_formatting=True,
        include_comments=False,
    )


size = 0
started = time.perf_counter()
for number in range(rounds):
    for name, page in pages:
        text = markdown(page) or ""
        size += len(page)
        if number == 0:
            with open(os.path.join(target, name.replace(".html", ".md")), "w") as file:
                file.write(text)
print(json.dumps({"seconds": time.perf_counter() - started, "bytes": size}))
