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
	n, err := enc.Count("hello world")
	fmt.Println(n, err)
	ids, err := enc.Append(nil, "hello world")
	fmt.Println(ids, err)
	// Output: 2 <nil>
	// [24912 2375] <nil>
}
