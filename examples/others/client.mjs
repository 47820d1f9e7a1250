// One official client against a server: prints what came, so that two ways can be compared.
import { createHash } from "node:crypto";

const [name, base] = process.argv.slice(2);
const messages = [{ role: "user", content: "measure this" }];
const show = (what, events, text) => console.log(`${what}: ${events} events, text ${createHash("sha256").update(text).digest("hex").slice(0, 12)}`);

if (name === "openai") {
  const { default: OpenAI } = await import("openai");
  const c = new OpenAI({ baseURL: base + "/v1", apiKey: "sk-example-not-a-key", maxRetries: 0 });
  let events = 0, text = "";
  for await (const chunk of await c.chat.completions.create({ model: "gpt-4o", messages, stream: true })) {
    events++;
    text += chunk.choices[0]?.delta?.content ?? "";
  }
  show("chat", events, text);
  [events, text] = [0, ""];
  for await (const e of await c.responses.create({ model: "gpt-4o", input: "measure this", stream: true })) {
    events++;
    text += e.type === "response.output_text.delta" ? e.delta : "";
  }
  show("responses", events, text);
  const vectors = (await c.embeddings.create({ model: "text-embedding-3-small", input: ["measure this", "measure that"], encoding_format: "float" })).data;
  show("embeddings", vectors.length, JSON.stringify(vectors.map((v) => Array.from(v.embedding))));
  const pictures = (await c.images.generate({ model: "gpt-image-1", prompt: "measure this" })).data;
  show("images", pictures.length, pictures[0].b64_json);
  const sound = await c.audio.speech.create({ model: "tts-1", voice: "alloy", input: "measure this", response_format: "wav" });
  show("speech", 1, Buffer.from(await sound.arrayBuffer()).toString("hex"));
} else if (name === "@google/genai") {
  const { GoogleGenAI } = await import("@google/genai");
  const c = new GoogleGenAI({ apiKey: "sk-example-not-a-key", httpOptions: { baseUrl: base, apiVersion: "v1beta" } });
  let events = 0, text = "";
  for await (const chunk of await c.models.generateContentStream({ model: "gemini-2.0-flash", contents: "measure this" })) {
    events++;
    text += chunk.text ?? "";
  }
  show("generateContentStream", events, text);
} else {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const c = new Anthropic({ baseURL: base, apiKey: "sk-ant-example-not-a-key", maxRetries: 0 });
  let events = 0, text = "";
  for await (const e of await c.messages.create({ model: "claude-mock", max_tokens: 100, messages, stream: true })) {
    events++;
    text += e.delta?.text ?? "";
  }
  show("messages", events, text);
}
