package engines_test

import (
	"fmt"

	"tokenmeter/wire/api/engines"
)

func ExampleSniff() {
	answers := map[string]engines.Answer{
		"/v1/models": {Status: 200, Body: []byte(`{"data":[{"id":"tiny","owned_by":"vllm"}]}`)},
		"/version":   {Status: 200, Body: []byte(`{"version":"0.11.0"}`)},
	}
	server := engines.Sniff(answers)
	fmt.Println(server.Engine, server.Version, server.Models, server.APIs[0])
	// Output: vllm 0.11.0 [tiny] openai-chat
}
