"""Runs vLLM's or SGLang's own benchmark client out of their unpacked wheels, without torch
and the engine: wheel.py DIR vllm|sglang ARGUMENTS. What the client imports of the engine is
replaced by modules that hold nothing; what it does to a server is its own code.
"""

import argparse
import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import types


class Nothing:
    """Stands for a class, a function and a value of the engine."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __call__(self, *args, **_):
        return args[0] if args and callable(args[0]) else Nothing()

    def __or__(self, _):
        return self

    __ror__ = __or__

    def __mro_entries__(self, _):
        return (object,)

    def __getitem__(self, _):
        return Nothing()


class Empty(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the client in its wheel, and nothing behind the other names."""

    def __init__(self, wheels, tool):
        self.wheels, self.tool = wheels, tool

    def find_spec(self, name, path, target=None):
        if name.startswith(self.tool + ".benchmark"):
            return None
        if name.split(".")[0] in (self.tool, "torch", "cv2", "librosa", "soundfile"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = Empty(spec.name)
        module.__path__ = [f"{self.wheels}/{self.tool}"] if spec.name == self.tool else []
        return module

    def exec_module(self, module):
        pass


def load(folder, tool):
    """The module of the tool's client."""
    wheels, tokenizer = folder + "/wheels", folder + "/tokenizer"
    sys.path.insert(0, wheels)
    sys.meta_path.insert(0, Finder(wheels, tool))
    if tool == "vllm":
        import vllm.tokenizers
        import vllm.utils.argparse_utils
        import vllm.utils.gc_utils
        import vllm.utils.network_utils
        from transformers import AutoTokenizer

        vllm.utils.argparse_utils.FlexibleArgumentParser = argparse.ArgumentParser
        vllm.tokenizers.get_tokenizer = lambda *_, **__: AutoTokenizer.from_pretrained(tokenizer)
        vllm.utils.network_utils.join_host_port = lambda host, port: f"{host}:{port}"
        vllm.utils.gc_utils.freeze_gc_heap = lambda: None
        return importlib.import_module("vllm.benchmarks.serve")
    import sglang.srt.disaggregation.utils
    import sglang.srt.utils.network

    sglang.srt.disaggregation.utils.FAKE_BOOTSTRAP_HOST = "2.2.2.2"
    sglang.srt.utils.network.resolve_base_url = lambda base, host, port: base or f"http://{host}:{port}"
    sglang.srt.utils.network.resolve_host_port = lambda base, host, port: base or f"{host}:{port}"
    return importlib.import_module("sglang.benchmark.serving")


if __name__ == "__main__":
    folder, tool = os.path.abspath(sys.argv[1]), sys.argv[2]
    del sys.argv[1:3]
    client = load(folder, tool)
    if tool == "vllm":
        parser = argparse.ArgumentParser()
        client.add_cli_args(parser)
        client.main(parser.parse_args())
    else:
        client.cli_main()
