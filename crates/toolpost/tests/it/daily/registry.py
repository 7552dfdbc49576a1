"""Fills a folder with what a static server needs to be a registry of npm, pip, cargo and Go modules with one package each."""
import base64, hashlib, io, json, os, sys, tarfile, zipfile

folder, address = sys.argv[1], sys.argv[2]


def write(path, content):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def packed(files):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            tar.addfile(entry, io.BytesIO(text.encode()))
    return held.getvalue()


def zipped(files):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return held.getvalue()


write("data.json", '{"ok":true}\n')

package = {"name": "tiny-lib", "version": "1.0.0", "main": "index.js", "bin": {"tiny-lib": "cli.js"}}
tarball = packed({
    "package/package.json": json.dumps(package),
    "package/index.js": "module.exports = 42;\n",
    "package/cli.js": "#!/usr/bin/env node\nconsole.log(42);\n",
})
integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
dist = {"tarball": f"{address}/npm/tiny-lib-1.0.0.tgz", "integrity": integrity, "shasum": hashlib.sha1(tarball).hexdigest()}
listing = {"name": "tiny-lib", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": package | {"dist": dist}}}
write("npm/tiny-lib/index.html", json.dumps(listing))
write("npm/tiny-lib-1.0.0.tgz", tarball)

wheel = "tinywheel-1.0.0-py3-none-any.whl"
about = "tinywheel-1.0.0.dist-info"
write(f"pip/tinywheel/{wheel}", zipped({
    "tinywheel.py": "answer = 42\n",
    f"{about}/METADATA": "Metadata-Version: 2.1\nName: tinywheel\nVersion: 1.0.0\n",
    f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tiny\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{about}/RECORD": "",
}))
write("pip/tinywheel/index.html", f'<!DOCTYPE html><a href="{wheel}">{wheel}</a>')

crate = packed({
    "tiny-crate-1.0.0/Cargo.toml": '[package]\nname = "tiny-crate"\nversion = "1.0.0"\nedition = "2021"\n',
    "tiny-crate-1.0.0/src/main.rs": 'fn main() {\n    println!("42");\n}\n',
})
write("cargo/config.json", json.dumps({"dl": f"{address}/cargo/dl/{{crate}}-{{version}}.crate"}))
row = {"name": "tiny-crate", "vers": "1.0.0", "deps": [], "cksum": hashlib.sha256(crate).hexdigest(), "features": {}, "yanked": False}
write("cargo/ti/ny/tiny-crate", json.dumps(row) + "\n")
write("cargo/dl/tiny-crate-1.0.0.crate", crate)

module = "example.org/tiny"
write(f"go/{module}/@v/list", "v1.0.0\n")
write(f"go/{module}/@v/v1.0.0.info", '{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}')
write(f"go/{module}/@v/v1.0.0.mod", f"module {module}\n")
write(f"go/{module}/@v/v1.0.0.zip", zipped({
    f"{module}@v1.0.0/go.mod": f"module {module}\n",
    f"{module}@v1.0.0/tiny.go": "package tiny\n",
}))
