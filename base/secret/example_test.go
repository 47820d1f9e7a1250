package secret_test

import (
	"fmt"

	"tokenmeter/base/secret"
)

func ExampleNew() {
	r := secret.New("s3cr3t-key")
	fmt.Println(r.String(`401: the key "s3cr3t-key" is wrong (czNjcjN0LWtleQ==)`))
	fmt.Println(r.URL("http://h/v1?key=s3cr3t-key&user=me"))
	// Output:
	// 401: the key "***" is wrong (***)
	// http://h/v1?key=***&user=me
}
