package framing_test

import (
	"fmt"

	"tokenmeter/wire/framing"
)

// An event comes out of the read that completed it, however it was split.
func ExampleSSE() {
	framer := framing.NewSSE(0)
	for i, read := range []string{"data: {\"a\":", "1}\n", "\ndata: [DONE]"} {
		framer.Feed([]byte(read), func(e framing.Event) error {
			fmt.Printf("read %d: %s\n", i, e.Data)
			return nil
		})
	}
	framer.Close(func(e framing.Event) error {
		fmt.Printf("at the end: %s, partial: %v\n", e.Data, e.Partial)
		return nil
	})
	// Output:
	// read 2: {"a":1}
	// at the end: [DONE], partial: true
}
