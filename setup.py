"""Build the compiled loops; everything else stands in pyproject.toml."""

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup


def has_compiler() -> bool:
    """Whether there is a C compiler; Windows and macOS say themselves where theirs is to be had."""
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return sys.platform in {"win32", "darwin"} or shutil.which(shlex.split(named)[0]) is not None


def extensions() -> list[Extension]:
    """Return a module for each source in Cython."""
    options = [] if sys.platform == "win32" else ["-O3", "-g0"]
    modules = [
        Extension(
            ".".join(source.with_suffix("").parts),
            [str(source)],
            depends=["setup.py", *map(str, Path("neardup").rglob("*.h"))],
            include_dirs=["."],
            extra_compile_args=options,
        )
        for folder in ("crawler", "neardup")
        for source in sorted(Path(folder).rglob("*.pyx"))
    ]
    # Places are checked, which costs a tenth of a loop's time: texts are foreign.
    directives = {
        "language_level": "3", "boundscheck": True, "wraparound": False, "cdivision": True,
        "show_performance_hints": False,
    }  # fmt: skip
    return cythonize(modules, build_dir="build", include_path=["."], compiler_directives=directives)


required = []
if not has_compiler():
    # A package from the index compiles where nothing else does. It is told to compile for the
    # oldest processors of a kind, as other compilers do by themselves.
    required.append("ziglang")
    zig = f"{shlex.quote(sys.executable)} -m ziglang"
    os.environ["CC"] = f"{zig} cc -mcpu=baseline"
    os.environ["LDSHARED"] = f"{zig} cc -shared"
    os.environ["AR"] = f"{zig} ar"

setup(
    ext_modules=extensions(),
    setup_requires=required,
    options={"build_ext": {"parallel": os.cpu_count()}},
)
