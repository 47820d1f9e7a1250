// Streams with the official OpenAI and Anthropic clients; prints what came, so that two ways can be compared.
import { createHash } from "node:crypto";
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";

const base = process.argv[2];
const show = (name, events, text, extra = "") =>
  console.log(`node ${name}: ${events} events, text ${createHash("sha256").update(text).digest("hex").slice(0, 12)}${extra}`);

const messages = [{ role: "user", content: "measure this" }];
const openai = new OpenAI({ baseURL: base + "/v1", apiKey: "sk-example-not-a-key", maxRetries: 0 });
for (const [name, more] of [["chat", {}], ["chat with usage", { stream_options: { include_usage: true } }]]) {
  let events = 0, text = "", usage = 0;
  for await (const chunk of await openai.chat.completions.create({ model: "gpt-4o", messages, stream: true, ...more })) {
    events++;
    if (chunk.usage) usage++;
    text += chunk.choices[0]?.delta?.content ?? "";
  }
  show("openai " + name, events, text, `, usage in ${usage}`);
}
{
  let events = 0, text = "";
  for await (const event of await openai.responses.create({ model: "gpt-4o", input: "measure this", stream: true })) {
    events++;
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  show("openai responses", events, text);
}
const anthropic = new Anthropic({ baseURL: base, apiKey: "sk-ant-example-not-a-key", maxRetries: 0 });
{
  let events = 0, text = "";
  for await (const event of anthropic.messages.stream({ model: "claude-mock", max_tokens: 100, messages })) {
    events++;
    if (event.type === "content_block_delta") text += event.delta.text;
  }
  show("anthropic messages", events, text);
}
