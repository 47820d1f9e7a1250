package tokens_test

import (
	"fmt"

	"tokenmeter/wire/tokens"
)

func ExampleByName() {
	enc, err := tokens.ByName("o200k_base")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(enc.Count("hello world"), enc.Append(nil, "hello world"))
	// Output: 2 [24912 2375]
}
