"""Writes what other load generators' own parsers take: load/translate/testdata/flags.

    python3 tools/oracle/peer_flags.py DIR [TOOL …]

DIR holds an unpacked wheel each (unzip -d DIR/NAME NAME-VERSION.whl): vllm, sglang, aiperf,
genai_perf, genai_bench, guidellm, inference_perf; guidellm05 is guidellm 0.5.0. Nothing of them is run: their parsers are
read as syntax, so that no dependency is needed. A line is a flag: its names, how many words
it takes (- is a switch, * takes several), its default, and its choices, with
tabs between; what is computed has no default.
"""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
OUT = pathlib.Path(__file__).resolve().parents[2] / "load/translate/testdata/flags"


def tree(path):
    return ast.parse((ROOT / path).read_text())


def literal(node, known=None):
    """A constant's text; None for what is computed, or is none."""
    if node is None:
        return None
    try:
        v = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "float":
            return literal(node.args[0])
        if isinstance(node, (ast.Attribute, ast.Name)) and known is not None:
            return known.get(ast.unparse(node))
        return None
    if v is None or isinstance(v, (dict, list, tuple)):
        return None
    return str(v).lower() if isinstance(v, bool) else str(v)


def words(node, lists):
    """The texts of a list, or of a list by its name."""
    if node is None:
        return []
    text = ast.unparse(node)
    if text in lists:
        return lists[text]
    return [str(c.value) for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)]


def lists_of(t):
    """Module-level tables whose keys or items are choices."""
    out = {}
    for n in ast.walk(t):
        if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None:
            name = ast.unparse(n.targets[0] if isinstance(n, ast.Assign) else n.target)
            if isinstance(n.value, ast.Dict) and all(isinstance(k, ast.Constant) for k in n.value.keys if k):
                keys = [str(k.value) for k in n.value.keys if k]
                for form in ("list(%s.keys())", "list(%s)", "%s", "%s.keys()"):
                    out[form % name] = keys
    return out


def argparse_flags(paths, functions=None, constants=(), tables=()):
    rows = []
    lists, constants = {}, dict(constants)
    trees = [tree(p) for p in paths]
    for t in trees + [tree(p) for p in tables]:
        lists.update(lists_of(t))
        for n in t.body:
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant):
                constants[ast.unparse(n.targets[0])] = str(n.value.value)
    for t in trees:
        where = [t] if functions is None else [n for n in ast.walk(t) if isinstance(n, ast.FunctionDef) and re.fullmatch(functions, n.name)]
        for part in where:
            for n in ast.walk(part):
                if not (isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("add_argument", "option")):
                    continue
                names = [a.value for a in n.args if isinstance(a, ast.Constant) and str(a.value).startswith("-")]
                names = [x for name in names for x in name.split("/")]
                if not names:
                    continue
                kw = {k.arg: k.value for k in n.keywords}
                action = literal(kw.get("action")) or ""
                takes = "1"
                if action.startswith(("store_", "append_const", "count")) or literal(kw.get("is_flag")) == "true" or "flag_value" in kw:
                    takes = "-"
                elif "BooleanOptionalAction" in ast.unparse(kw["action"]) if "action" in kw else False:
                    takes = "-"
                    names += ["--no-" + x[2:] for x in names if x.startswith("--")]
                elif "nargs" in kw:
                    takes = "*"
                default = literal(kw.get("default"), constants)
                rows.append((names, takes, default if takes != "-" else None, words(kw.get("choices"), lists) if takes != "-" else []))
    return rows


def enums(root):
    """Values of the enums below a folder, by the enum's name and by its members'."""
    members, values = {}, {}
    for path in sorted((ROOT / root).rglob("*.py")):
        for n in ast.walk(ast.parse(path.read_text())):
            if not isinstance(n, ast.ClassDef) or not any("Enum" in ast.unparse(b) for b in n.bases):
                continue
            for a in n.body:
                if isinstance(a, ast.Assign) and isinstance(a.value, ast.Constant):
                    values["%s.%s" % (n.name, a.targets[0].id)] = str(a.value.value)
                    members.setdefault(n.name, []).append(str(a.value.value))
    return members, values


def class_constants(paths):
    out = {}
    for p in paths:
        for n in ast.walk(tree(p)):
            if isinstance(n, ast.ClassDef):
                for a in n.body:
                    if isinstance(a, (ast.Assign, ast.AnnAssign)) and a.value is not None:
                        name = a.targets[0] if isinstance(a, ast.Assign) else a.target
                        out["%s.%s" % (n.name, ast.unparse(name))] = a.value
    return out


def aiperf():
    members, values = enums("aiperf/aiperf/common/enums")
    category = None
    plugins = {}
    for line in (ROOT / "aiperf/aiperf/plugin/plugins.yaml").read_text().splitlines():
        if m := re.fullmatch(r"([a-z_]+):\s*", line):
            category = m[1]
        elif m := re.fullmatch(r"  ([a-z_0-9]+):\s*", line):
            plugins.setdefault(category, []).append(m[1])
    for enum, name in {"EndpointType": "endpoint", "CustomDatasetType": "custom_dataset_loader", "ArrivalPattern": "arrival_pattern",
                       "DatasetSamplingStrategy": "dataset_sampler", "URLSelectionStrategy": "url_selection_strategy", "TransportType": "transport",
                       "UIType": "ui", "PublicDatasetType": "public_dataset_loader"}.items():
        members[enum] = plugins[name]
        for v in plugins[name]:
            values["%s.%s" % (enum, v.upper())] = v
    for name, v in class_constants(["aiperf/aiperf/config/endpoint.py", "aiperf/aiperf/config/artifacts.py", "aiperf/aiperf/config/runtime.py"]).items():
        text = literal(v, values)
        if text is not None:
            values[name] = text
    rows = []
    for n in ast.walk(tree("aiperf/aiperf/config/flags/cli_config.py")):
        if not (isinstance(n, ast.AnnAssign) and isinstance(n.annotation, ast.Subscript) and isinstance(n.annotation.slice, ast.Tuple)):
            continue
        kind, *rest = n.annotation.slice.elts
        names, default, negative, many = [], n.value, None, False
        for e in rest:
            if isinstance(e, ast.Call) and ast.unparse(e.func) in ("CLIParameter", "Parameter"):
                for k in e.keywords:
                    if k.arg == "name":
                        names = words(k.value, {})
                    elif k.arg == "negative":
                        negative = literal(k.value)
                    elif k.arg == "consume_multiple":
                        many = True
            elif isinstance(e, ast.Call) and ast.unparse(e.func) == "Field":
                for k in e.keywords:
                    if k.arg == "default":
                        default = k.value
        if not names:
            continue
        kind = ast.unparse(kind).removesuffix(" | None")
        choices = members.get(kind, re.findall(r"'([^']*)'", kind) if kind.startswith("Literal") else [])
        if kind == "bool":
            rows.append((names, "-", None, []))
            if negative:
                rows.append(([negative], "-", None, []))
        else:
            rows.append((names, "*" if many else "1", literal(default, values), choices))
    return rows


def guidellm():
    """The flags of `guidellm run`, and the keys of the kinds that they take."""
    rows = argparse_flags(["guidellm/guidellm/cli/run.py"])
    model = next(n for n in ast.walk(tree("guidellm/guidellm/schemas/benchmark/entrypoints.py")) if isinstance(n, ast.ClassDef) and n.name == "BenchmarkArgs")
    for a in model.body:
        m = re.search(r"'argument_alias': '([a-z_]+)'", ast.unparse(a))
        if m:
            rows.append((["--" + m[1].replace("_", "-")], "1", None, []))
    folders = {"profile": "benchmark/profiles", "backend": "backends", "data": "data/deserializers", "seed": "benchmark/random.py", "metrics": "benchmark/entrypoints.py"}
    for flag, folder in folders.items():
        at = ROOT / "guidellm/guidellm/schemas" / folder
        for path in sorted(at.rglob("*.py")) if at.is_dir() else [at]:
            for n in ast.parse(path.read_text()).body:
                if not isinstance(n, ast.ClassDef) or not n.name.endswith("Args") or n.name in ("BenchmarkArgs",):
                    continue
                fields = {ast.unparse(a.target): a for a in n.body if isinstance(a, ast.AnnAssign)}
                kinds = re.findall(r"'([a-z_]+)'", ast.unparse(fields["kind"].annotation)) if "kind" in fields else []
                for name, a in fields.items():
                    if name in ("kind", "model_config") or name.startswith("schema_") or not (a.value is None or isinstance(a.value, ast.Call)):
                        continue
                    default = next((literal(k.value) for k in a.value.keywords if k.arg == "default"), None) if a.value is not None else None
                    rows.append((["%s kind=%s,%s" % (flag, k, name) for k in kinds or ["*"]], "key", default, re.findall(r"'([^']*)'", ast.unparse(a.annotation)) if "Literal" in ast.unparse(a.annotation) else []))
    return rows


def inference_perf():
    """Keys with dots, as its flags are called, of its models."""
    models, members = {}, {}
    for path in sorted((ROOT / "inference_perf/inference_perf").rglob("*.py")):
        for n in ast.parse(path.read_text()).body:
            if isinstance(n, ast.ClassDef):
                models.setdefault(n.name, n)
                if any("Enum" in ast.unparse(b) for b in n.bases):
                    members[n.name] = [str(a.value.value) for a in n.body if isinstance(a, ast.Assign) and isinstance(a.value, ast.Constant)]
    rows = []

    def fields(name):
        n = models[name]
        for b in n.bases:
            if ast.unparse(b) in models:
                yield from fields(ast.unparse(b))
        for a in n.body:
            if isinstance(a, ast.AnnAssign) and "ClassVar" not in ast.unparse(a.annotation):
                yield a

    def walk(name, prefix, above):
        for a in fields(name):
            key = prefix + a.target.id
            kind = ast.unparse(a.annotation)
            inner = [k for k in re.findall(r"[A-Za-z]+", kind) if k in models and k not in members]
            if inner and not re.search(r"List|list|Dict|dict", kind) and inner[0] not in above:
                walk(inner[0], key + ".", above + [inner[0]])
                if not re.search(r"Union|\bstr\b|\bint\b", kind):
                    continue
            default = a.value
            if isinstance(default, ast.Call) and ast.unparse(default.func) == "Field":
                default = next((k.value for k in a.value.keywords if k.arg == "default"), None)
            choices = next((members[k] for k in re.findall(r"[A-Za-z]+", kind) if k in members), [])
            values = {"%s.%s" % (e, x.targets[0].id): str(x.value.value) for e in members for x in models[e].body if isinstance(x, ast.Assign) and isinstance(x.value, ast.Constant)}
            rows.append((["--" + key], "1", literal(default, values), choices))

    walk("Config", "", ["Config"])
    return rows


V = "vllm/vllm/benchmarks/"
TOOLS = {
    "vllm": ("vllm bench serve", "vllm", lambda: argparse_flags([V + "serve.py", V + "datasets/datasets.py"], "add_.*", {
        "RandomMultiModalDataset.DEFAULT_BASE_ITEMS_PER_REQUEST": "1", "RandomMultiModalDataset.DEFAULT_NUM_MM_ITEMS_RANGE_RATIO": "0.0"},
        [V + "lib/endpoint_request_func.py"])),
    "sglang": ("sglang.bench_serving", "sglang", lambda: argparse_flags(["sglang/sglang/benchmark/serving.py"])),
    "aiperf": ("aiperf profile", "aiperf", aiperf),
    "genai-perf": ("genai-perf profile", "genai_perf", lambda: argparse_flags(["genai_perf/genai_perf/parser.py"], "_add_(audio|template|endpoint|image|input|other|output|profile|session|tokenizer).*")),
    "genai-bench": ("genai-bench benchmark", "genai_bench", lambda: argparse_flags(["genai_bench/genai_bench/cli/option_groups.py"])),
    "guidellm": ("guidellm benchmark run", "guidellm", guidellm),
    "guidellm-0.5": ("guidellm benchmark run", "guidellm05", lambda: argparse_flags(["guidellm05/guidellm/__main__.py"], "run")),
    "inference-perf": ("inference-perf", "inference_perf", inference_perf),
}

OUT.mkdir(parents=True, exist_ok=True)
for name in sys.argv[2:] or TOOLS:
    tool, folder, rows = TOOLS[name]
    version = next((ROOT / folder).glob("*.dist-info")).name.removesuffix(".dist-info").split("-")[-1]
    lines = {}
    for names, takes, default, choices in rows():
        lines["\t".join([" ".join(dict.fromkeys(names)) if takes != "key" else "|".join(names), takes, default or "", " ".join(choices)]).rstrip("\t")] = True
    (OUT / (name + ".txt")).write_text("# %s, of %s %s; written by tools/oracle/peer_flags.py\n" % (tool, folder.removesuffix("05").replace("_", "-"), version) + "\n".join(sorted(lines)) + "\n")
    print(name, version, len(lines))
