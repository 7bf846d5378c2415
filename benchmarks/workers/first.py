"""A fresh interpreter: what the import costs that a peer's own documentation begins with, and then a first conversion.

    python first.py STATEMENT ADAPTER TARGET TOOL

One line of JSON: milliseconds of wall and CPU time, kilobytes of resident memory and modules, after each of the two;
and the versions.
"""

import sys
import time


def kilobytes() -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def main() -> None:
    statement, adapter, target, tool = sys.argv[1:]
    sys.path[0] = ""
    before = kilobytes()
    wall, cpu = time.perf_counter(), time.process_time()
    exec(statement, {"__name__": "user"})
    answer = {"before": before, "import_wall": (time.perf_counter() - wall) * 1e3}
    answer["import_cpu"] = (time.process_time() - cpu) * 1e3
    answer |= {"import_memory": kilobytes(), "import_modules": len(sys.modules)}
    if adapter:
        namespace = {"__name__": "adapter"}
        with open(adapter, encoding="utf-8") as file:
            exec(compile(file.read(), adapter, "exec"), namespace)
        import json

        namespace["TARGETS"][target]()(namespace["read"](json.loads(tool)))
        answer |= {"first_wall": (time.perf_counter() - wall) * 1e3, "first_cpu": (time.process_time() - cpu) * 1e3}
        answer |= {"first_memory": kilobytes(), "first_modules": len(sys.modules)}
    else:
        namespace = {"PACKAGES": [statement.replace(";", " ").split()[1].partition(".")[0]]}
    import json
    from importlib.metadata import version

    answer["versions"] = {each: version(each) for each in namespace["PACKAGES"]}
    watched = ("mcp", "httpx", "httpx2", "pydantic", "openai", "jsonschema_rs")
    answer["loads"] = [each for each in watched if each in sys.modules]
    sys.__stdout__.write("\n" + json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
