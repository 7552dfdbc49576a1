//! Names that the language itself brings: built-in functions and types, and the modules of the standard library.

use crate::facts::Name;

const BUILTINS: &str = "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup \
BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError \
ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError \
Exception ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError \
ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt \
LookupError MemoryError ModuleNotFoundError NameError None NotADirectoryError NotImplemented NotImplementedError \
OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError \
RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError \
SyntaxWarning SystemError SystemExit TabError TimeoutError True TypeError UnboundLocalError UnicodeDecodeError \
UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning WindowsError \
ZeroDivisionError abs aiter all anext any apply ascii basestring bin bool breakpoint buffer bytearray bytes callable chr \
classmethod cmp coerce compile complex copyright credits delattr dict dir divmod enumerate eval exec execfile exit file \
filter float format frozenset function getattr globals hasattr hash help hex id input int intern isinstance issubclass iter \
len license list locals long map max memoryview min next object oct open ord pow print property quit range raw_input \
reduce reload repr reversed reveal_locals reveal_type round set setattr slice sorted staticmethod str sum super tuple type \
unichr unicode vars xrange zip __build_class__ __builtins__ __debug__ __dict__ __doc__ __file__ __import__ __loader__ \
__name__ __package__ __path__ __qualname__ __module__ __spec__ __class__ __annotations__";

const LIBRARY: &str = "__future__ __main__ _thread abc aifc argparse array ast asyncio atexit base64 bdb binascii \
bisect builtins bz2 calendar cmath cmd code codecs codeop collections colorsys compileall concurrent configparser \
contextlib contextvars copy copyreg csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email \
encodings enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc getopt getpass gettext glob \
graphlib grp gzip hashlib heapq hmac html http imaplib importlib inspect io ipaddress itertools json keyword linecache \
locale logging lzma mailbox marshal math mimetypes mmap modulefinder msvcrt multiprocessing netrc numbers operator optparse \
os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile \
pyclbr pydoc queue quopri random re readline reprlib resource runpy sched secrets select selectors shelve shlex shutil signal \
site smtplib socket socketserver sqlite3 ssl stat statistics string stringprep struct subprocess symtable sys sysconfig \
syslog tabnanny tarfile tempfile termios textwrap threading time timeit tkinter token tokenize tomllib trace traceback \
tracemalloc tty turtle types typing unicodedata unittest urllib uuid venv warnings wave weakref webbrowser winreg winsound \
wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/// Names of the language itself.
pub(super) fn builtins() -> impl Iterator<Item = Name> {
    BUILTINS.split_whitespace().map(Name::of)
}

/// Whether a module is of the standard library.
pub(super) fn is_library(module: &str) -> bool {
    LIBRARY.split_whitespace().any(|known| known == module)
}

/// Members of the types that the language itself brings: text, numbers, containers, files.
const MEMBERS: &str = "add append appendleft as_integer_ratio bit_length capitalize casefold center clear close closed \
copy count decode detach difference difference_update discard encode endswith expandtabs extend extendleft fileno find \
flush format format_map fromhex fromkeys get group groups hex index insert intersection intersection_update isalnum isalpha \
isascii isatty isdecimal isdigit isdisjoint isidentifier islower isnumeric isprintable isspace issubset issuperset istitle \
isupper items join keys ljust lower lstrip maketrans mode most_common move_to_end name partition pop popitem popleft \
readable read readline readlines remove removeprefix removesuffix replace reverse rfind rindex rjust rotate rpartition rsplit \
rstrip seek seekable setdefault sort split splitlines start startswith strip swapcase symmetric_difference tell title \
to_bytes translate truncate union update upper values writable write writelines zfill";

/// Whether a type of the language itself has a member of this name.
pub(super) fn is_member(name: &str) -> bool {
    name.starts_with("__") || MEMBERS.split_whitespace().any(|known| known == name)
}
