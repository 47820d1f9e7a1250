package tokens_test

import (
	"fmt"
	"math/rand/v2"

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

func ExampleText() {
	enc, err := tokens.ByName("cl100k_base")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := tokens.Text(enc, rand.New(rand.NewPCG(1, 2)).Uint64, 128)
	fmt.Println(enc.Count(text), err)
	// Output: 128 <nil>
}
