package secret

import (
	"strings"
	"testing"
)

func TestVariable(t *testing.T) {
	for _, good := range []string{"KEY", "OPENAI_API_KEY", "_k", "my_key", "apiKey2", "AZURE_OPENAI_API_KEY_2026_PRODUCTION", "VERYLONGNAMEWITHOUTANYDIGIT"} {
		if err := Variable(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "2KEY", "MY-KEY", "A KEY", "KEY=", "$KEY", "ключ", "sk-abcdefghijklmnop", "https://hooks.slack.example/services/T0/B0/xyz",
		"gsk_0123456789abcdefghij", "hf_abcdefghijklmnopqrstuv", "d41d8cd98f00b204e9800998ecf8427e", "AKIAABCDEFGHIJKLMNOP", "eyJhbGciOi.eyJzdWIiOi.x"} {
		err := Variable(bad)
		if err == nil {
			t.Errorf("%q passes", bad)
		} else if bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q is shown: %v", bad, err)
		}
	}
}
