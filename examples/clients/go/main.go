// Command go streams with the official OpenAI and Anthropic clients for Go
// and prints what came, so that two ways can be compared. It is a module of its
// own: tokenmeter needs neither client.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	if err := stream(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func stream(ctx context.Context, base string) error {
	chat := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("sk-example-not-a-key"), option.WithMaxRetries(0))
	for _, usage := range []bool{false, true} {
		ask := openai.ChatCompletionNewParams{Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("measure this")}}
		if usage {
			ask.StreamOptions.IncludeUsage = openai.Bool(true)
		}
		events, text, used := 0, "", 0
		s := chat.Chat.Completions.NewStreaming(ctx, ask)
		for s.Next() {
			events++
			if chunk := s.Current(); len(chunk.Choices) > 0 {
				text += chunk.Choices[0].Delta.Content
			}
			if s.Current().Usage.CompletionTokens > 0 {
				used++
			}
		}
		if err := s.Err(); err != nil {
			return fmt.Errorf("openai: %w", err)
		}
		show(fmt.Sprintf("openai chat, usage asked: %v", usage), events, text, used)
	}
	messages := anthropic.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey("sk-ant-example-not-a-key"), anthropicoption.WithMaxRetries(0))
	events, text := 0, ""
	s := messages.Messages.NewStreaming(ctx, anthropic.MessageNewParams{Model: "claude-mock", MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("measure this"))}})
	for s.Next() {
		events++
		if d, ok := s.Current().AsAny().(anthropic.ContentBlockDeltaEvent); ok {
			text += d.Delta.Text
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("anthropic: %w", err)
	}
	show("anthropic messages", events, text, 0)
	return nil
}

func show(name string, events int, text string, usage int) {
	fmt.Printf("go %s: %d events, text %.6x, usage in %d\n", name, events, sha256.Sum256([]byte(text)), usage)
}
