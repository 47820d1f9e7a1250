"""Drives LLMeter: URL STREAMS REQUESTS_A_STREAM TOKENS SPREAD_S FOLDER."""

import asyncio
import itertools
import sys
import time

from llmeter.callbacks.base import Callback
from llmeter.endpoints.openai import OpenAICompletionStreamEndpoint
from llmeter.runner import Runner

url, streams, requests, tokens, spread, folder = sys.argv[1:]
streams, requests, tokens, spread = int(streams), int(requests), int(tokens), float(spread)


class Spread(Callback):
    """Spreads the first requests of the streams over a reply's length."""

    def __init__(self):
        self.count = itertools.count()

    async def before_invoke(self, payload):
        i = next(self.count)
        if i < streams:
            time.sleep(i * spread / streams)  # a thread of its own


async def main():
    endpoint = OpenAICompletionStreamEndpoint("sim", api_key="none", base_url=url, max_retries=0)
    payload = OpenAICompletionStreamEndpoint.create_payload(
        "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16",
        max_tokens=tokens, extra_body={"ignore_eos": True})
    runner = Runner(endpoint, clients=streams, output_path=folder, disable_per_client_progress_bar=True,
                    disable_clients_progress_bar=True)
    await runner.run(payload=payload, n_requests=1, run_name="warmup")
    await runner.run(payload=payload, n_requests=requests, run_name="measured", callbacks=[Spread()])


asyncio.run(main())
