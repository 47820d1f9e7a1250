package sweep

import "testing"

// Far from the limit is not firm where there are hardly any independent requests.
func TestMeanOfAFew(t *testing.T) {
	tests, err := newTests(parsed(t, "mean e2e < 14s"))
	if err != nil {
		t.Fatal(err)
	}
	for n, firm := range map[int]bool{8: false, 20: false, 200: true} {
		test := &test{o: tests[0].o, all: tests[0].all}
		for i := range n {
			test.at = append(test.at, i)
			test.value = append(test.value, -7000+float64(i*5%7)) // ms
			test.near = append(test.near, 0.5)
			test.gaps = append(test.gaps, 0)
		}
		if w := test.weigh(0); (w.holds > 7) != firm {
			t.Errorf("%d requests: evidence %.1f", n, w.holds)
		}
	}
}
