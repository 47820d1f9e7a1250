"""Do other tools' commands and the translated ones ask a server for the same?

    compare.py TOKENMETER [DIR] [WORD...]

Each line of lines.txt is run by the tool itself and as what `tokenmeter translate` makes of
it, each against a server that writes down what it is asked (record.py); the two are compared:
how many requests, to which path, which members of the body and their values, which lengths,
how many texts, how many different ones, when, and how many at once. DIR is what setup made;
WORDs choose the lines that hold them all. A difference that is meant stands below its line in
lines.txt, with the reason, which may say how far it goes. Exit code 1: one that isn't there.
A table comes out.
"""

import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import Counter

from record import length, texts

here = os.path.dirname(os.path.abspath(__file__))
SERVER = "http://server.invalid"
OPERATIONS = ("/completions", "/generate", "/generate_stream", "/embeddings", "rerank", "/responses", "/messages")
# Members whose values are other ones in each request, or are compared as lengths.
OWN = {"messages", "prompt", "input", "text", "inputs", "documents", "query", "max_tokens", "max_completion_tokens", "max_new_tokens", "request_id", "user", "rid"}


def lines(words):
    """The lines of lines.txt, each with the differences that are meant."""
    found = []
    for line in open(here + "/lines.txt"):
        if line[0] in "#\n":
            continue
        if line[0] == " ":
            name, reason = line.strip().split(": ", 1)
            found[-1][1][name] = reason
        else:
            found.append((line.strip(), {}))
    return [each for each in found if all(word in each[0] for word in words)]


def peer(line, folder, work):
    """The tool's own command, with what it needs to run without a network."""
    name, tokenizer = folder + "/{}/bin/{}", folder + "/tokenizer"
    words = shlex.split(line)
    if line.startswith("vllm bench serve"):
        return [name.format("aiperf", "python"), here + "/wheel.py", folder, "vllm"] + words[3:]
    if line.startswith("python -m sglang"):
        return [name.format("aiperf", "python"), here + "/wheel.py", folder, "sglang"] + words[3:]
    if line.startswith("aiperf"):
        return [name.format("aiperf", "aiperf")] + words[1:] + ["--tokenizer", "local/tok", "--ui", "none", "--artifact-dir", work + "/aiperf"]
    if line.startswith("guidellm"):
        return [name.format("guidellm", "guidellm")] + words[1:] + ["--tokenizer", "kind=hf_auto,model=local/tok", "--output", f"kind=json,path={work}/guidellm.json", "--disable-console"]
    if line.startswith("inference-perf"):
        return [name.format("inference-perf", "inference-perf")] + words[1:] + ["--storage.local_storage.path", work + "/inference-perf"]
    return [name.format("genai-bench", "genai-bench")] + words[1:] + ["--model-tokenizer", tokenizer, "--experiment-base-dir", work]


def play(command, log, tokenizer, env=None):
    """Runs a command, where its log is, against a server of its own; SERVER in it is its address."""
    server = subprocess.Popen([sys.executable, here + "/record.py", log, tokenizer], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        done = subprocess.run([word.replace(SERVER, url) for word in command], env=env, cwd=os.path.dirname(log), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
        output = done.stdout
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace") + "\nended after 900 s"
    finally:
        server.kill()
        server.wait()
    asked = [json.loads(line) for line in open(log)]
    return [each for each in asked if each["path"].endswith(OPERATIONS)], output


def flat(body, inside=""):
    """Members with their values: a.b=c."""
    for name, value in body.items():
        if name in OWN:
            continue
        if isinstance(value, dict):
            yield from flat(value, inside + name + ".")
        elif value is not None:  # a null is none, to servers
            yield f"{inside}{name}={float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value}"


def summary(asked, count):
    """What is compared, by its name."""
    if not asked:
        return {"requests": 0}
    lengths = [n for n in (length(each["body"]) for each in asked) if n]
    inputs = [sum(count(text) for text in texts(each["body"])) for each in asked]
    times = sorted(each["t"] for each in asked)
    gaps = [b - a for a, b in zip(times, times[1:])]
    mean = statistics.mean(gaps) if gaps else 0
    always = Counter(member for each in asked for member in set(flat(each["body"])))
    return {
        "requests": len(asked),
        "path": ", ".join(sorted({each["path"] for each in asked})),
        "body": sorted(member if n == len(asked) else f"{member} (some)" for member, n in always.items()),
        "asked": (min(lengths), statistics.mean(lengths), max(lengths)) if lengths else None,
        "input": (min(inputs), statistics.mean(inputs), max(inputs)),
        "texts": statistics.mean(len(texts(each["body"])) for each in asked),
        "different": len({json.dumps(texts(each["body"])) for each in asked}),
        "spread": statistics.pstdev(gaps) / mean if mean else 0.0,
        "seconds": times[-1] - times[0],
        "at once": max(each["busy"] for each in asked),
    }


def near(a, b, share):
    return abs(a - b) <= share * max(abs(a), abs(b), 1e-9)


def alike(name, theirs, ours):
    """Whether two values of a name are the same, as far as one run of each can tell."""
    if name in ("asked", "input"):
        if theirs is None or ours is None:
            return theirs == ours
        if theirs[0] == theirs[2] and name == "asked":
            return ours == theirs
        return near(theirs[1], ours[1], 0.3) and (name == "input" or near(theirs[2] - theirs[0], ours[2] - ours[0], 0.5))
    if name == "spread":
        return abs(theirs - ours) < 0.45
    if name == "seconds":
        return near(theirs, ours, 0.25)
    return theirs == ours


def show(name, value):
    if isinstance(value, tuple):
        least, mean, most = value
        return f"{least:g}" if least == most else f"{least:g} to {most:g}, mean {mean:.0f}"
    if isinstance(value, list):
        return " ".join(value) or "none"
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def compare(line, meant, tokenmeter, folder, count):
    """Rows of the table, and whether all is as lines.txt says."""
    env = dict(os.environ, HF_HOME=folder + "/hf", HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", OPENAI_API_KEY="x", TOKENIZERS_PARALLELISM="false")
    given = line
    with tempfile.TemporaryDirectory() as work:
        line = line.replace("{url}", SERVER).replace("{here}", here).replace("{tokenizer}", folder + "/tokenizer").replace("{work}", work)
        theirs, said = play(peer(line, folder, work), work + "/theirs.log", folder + "/tokenizer", env)
        text = subprocess.run([tokenmeter, "translate", "--", line], capture_output=True, text=True).stdout
        command = shlex.split("\n".join(part for part in text.split("\n") if not part.startswith("#")).replace("\\\n", " "))
        command[0] = tokenmeter
        if "--tokenizer" not in command and "{tokenizer}" not in given and "--prompts" not in command and "--workload" not in command:
            command += ["--tokenizer", folder + "/tokenizer"]  # as the tool has, see peer
        ours, mine = play(command + ["--out", work + "/ours"], work + "/ours.log", folder + "/tokenizer")
    if not theirs or not ours:
        return [("nothing was sent", "", (said if not theirs else mine)[-600:], "")], False
    open_loop = any(word in ("--rate", "--stages") for word in command)
    skip = {"at once"} if open_loop else {"spread", "seconds"}
    theirs, ours = summary(theirs, count), summary(ours, count)
    rows, good = [], True
    for name in theirs:
        if name in skip:
            continue
        a, b = theirs[name], ours[name]
        if name == "body":
            a, b = [m for m in theirs[name] if m not in ours[name]], [m for m in ours[name] if m not in theirs[name]]
            same = a == b
        else:
            same = alike(name, a, b)
        if not same:
            because, within = meant.get(name), True
            if because and (most := re.match(r"at most (\d+) % fewer there", because)):
                within = b * (1 - int(most[1]) / 100) <= a <= b
            rows.append((name, show(name, a), show(name, b), because if because and within else "NOT MEANT"))
            good = good and because is not None and within
    sent = f"{theirs['requests']} requests, at most {theirs['at once']} at once"
    return rows or [("all", sent, "the same", "")], good


def main():
    tokenmeter, rest = os.path.abspath(sys.argv[1]), sys.argv[2:]
    folder = os.path.abspath(rest[0]) if rest else os.path.expanduser("~/.cache/tokenmeter-translate")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(folder + "/tokenizer/tokenizer.json")

    def count(text):
        return len(text) if isinstance(text, list) else len(tokenizer.encode(text, add_special_tokens=False).ids)

    fine = True
    print("| line | what | the tool | translated | why |\n|---|---|---|---|---|", flush=True)
    for line, meant in lines(rest[1:]):
        rows, good = compare(line, meant, tokenmeter, folder, count)
        fine = fine and good
        for row in rows:
            print("| `" + line + "` | " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in row) + " |", flush=True)
            line = "″"
    sys.exit(not fine)


main()
