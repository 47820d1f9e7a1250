package metric

import "fmt"

// Plural is a number of things in words: "1 request", "40 requests".
func Plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
