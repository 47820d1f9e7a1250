"""Streams with the official OpenAI and Anthropic clients; prints what came, so that two ways can be compared."""
import hashlib
import sys

import anthropic
import openai

base = sys.argv[1]


def show(name, events, text, extra=""):
    print(f"python {name}: {events} events, text {hashlib.sha256(text.encode()).hexdigest()[:12]}{extra}")


client = openai.OpenAI(base_url=base + "/v1", api_key="sk-example-not-a-key", max_retries=0)
ask = [{"role": "user", "content": "measure this"}]
for name, more in (("chat", {}), ("chat with usage", {"stream_options": {"include_usage": True}})):
    events, text, usage = 0, "", 0
    for chunk in client.chat.completions.create(model="gpt-4o", messages=ask, stream=True, **more):
        events += 1
        usage += chunk.usage is not None
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    show("openai " + name, events, text, f", usage in {usage}")
whole = client.chat.completions.create(model="gpt-4o", messages=ask)
show("openai whole", 1, whole.choices[0].message.content)
events, text = 0, ""
for event in client.responses.create(model="gpt-4o", input="measure this", stream=True):
    events += 1
    text += event.delta if event.type == "response.output_text.delta" else ""
show("openai responses", events, text)

client = anthropic.Anthropic(base_url=base, api_key="sk-ant-example-not-a-key", max_retries=0)
events, text = 0, ""
with client.messages.stream(model="claude-mock", max_tokens=100, messages=ask) as stream:
    for event in stream:
        events += 1
        text += event.text if event.type == "text" else ""
show("anthropic messages", events, text)

try:
    openai.OpenAI(base_url=base + "/v1/nowhere", api_key="x", max_retries=0).chat.completions.create(model="m", messages=ask)
except openai.APIStatusError as e:
    print("python openai error:", type(e).__name__)
