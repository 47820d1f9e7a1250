"""One official client against a server: prints what came, so that two ways can be compared."""
import hashlib
import sys

package, base = sys.argv[1:]
ASK = [{"role": "user", "content": "measure this"}]
KEY = "sk-example-not-a-key"
PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def show(name, events, text):
    print(f"{name}: {events} events, text {hashlib.sha256(text.encode()).hexdigest()[:12]}")


if package == "openai":
    import openai

    c = openai.OpenAI(base_url=base + "/v1", api_key=KEY, max_retries=0)
    for name, more in (("chat", {}), ("chat with usage", {"stream_options": {"include_usage": True}})):
        chunks = list(c.chat.completions.create(model="gpt-4o", messages=ASK, stream=True, **more))
        show(name, len(chunks), "".join(ch.choices[0].delta.content or "" for ch in chunks if ch.choices))
        print(f"  usage in {sum(ch.usage is not None for ch in chunks)}")
    show("chat, whole", 1, c.chat.completions.create(model="gpt-4o", messages=ASK).choices[0].message.content)
    events = list(c.responses.create(model="gpt-4o", input="measure this", stream=True))
    show("responses", len(events), "".join(e.delta for e in events if e.type == "response.output_text.delta"))
    print("models:", len(c.models.list().data) > 0)
    seen = [{"role": "user", "content": [{"type": "text", "text": "measure this"}, {"type": "image_url", "image_url": {"url": PICTURE}}]}]
    chunks = list(c.chat.completions.create(model="gpt-4o", messages=seen, stream=True))
    show("chat with a picture", len(chunks), "".join(ch.choices[0].delta.content or "" for ch in chunks if ch.choices))
    vectors = c.embeddings.create(model="text-embedding-3-small", input=["measure this", "measure that"]).data
    show("embeddings", len(vectors), repr([v.embedding for v in vectors]))
    picture = c.images.generate(model="gpt-image-1", prompt="measure this").data
    show("images", len(picture), picture[0].b64_json)
    with c.audio.speech.with_streaming_response.create(model="tts-1", voice="alloy", input="measure this", response_format="wav") as r:
        sound = b"".join(r.iter_bytes())
    show("speech", 1, sound.hex())
elif package == "anthropic":
    import anthropic

    c = anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0)
    with c.messages.stream(model="claude-mock", max_tokens=100, messages=ASK) as stream:
        events = list(stream)
    show("messages", len(events), "".join(e.text for e in events if e.type == "text"))
    show("messages, whole", 1, c.messages.create(model="claude-mock", max_tokens=100, messages=ASK).content[0].text)
elif package == "google-genai":
    from google import genai
    from google.genai import types

    c = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=base, api_version="v1beta"))
    chunks = list(c.models.generate_content_stream(model="gemini-2.0-flash", contents="measure this"))
    show("generate_content_stream", len(chunks), "".join(ch.text or "" for ch in chunks))
elif package == "ollama":
    import ollama

    c = ollama.Client(host=base)
    chunks = list(c.chat(model="gpt-4o", messages=ASK, stream=True))
    show("chat", len(chunks), "".join(ch.message.content or "" for ch in chunks))
    chunks = list(c.generate(model="gpt-4o", prompt="measure this", stream=True))
    show("generate", len(chunks), "".join(ch.response or "" for ch in chunks))
