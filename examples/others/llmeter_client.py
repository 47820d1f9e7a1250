"""llmeter against a server: prints the requests that succeeded and their tokens, as JSON."""
import asyncio
import json
import sys

from llmeter.endpoints.openai import OpenAICompletionStreamEndpoint
from llmeter.runner import Runner

endpoint = OpenAICompletionStreamEndpoint("sim", base_url=sys.argv[1] + "/v1", api_key="sk-example-not-a-key", max_retries=0)
payload = OpenAICompletionStreamEndpoint.create_payload("measure this", max_tokens=20)
result = asyncio.run(Runner(endpoint, clients=2, n_requests=6).run(payload=payload))
ok = [r for r in result.responses if not r.error]
print(json.dumps({"requests": len(ok), "output": sum(r.num_tokens_output for r in ok)}))
