package secret

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A name that is shown where nothing is set must not be a key; one that is set is a name.
func TestFromVariable(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"tk_live_4c0ffee": " k\n", "tk_empty_4c0ffee": " "}[name]
		return v, ok
	}
	for name, shown := range map[string]bool{
		"OPENAI_API_KEY": true, "KEY2": true, "_K": true, "KEY_2026": true, "tk_empty_4c0ffee": true,
		"sk_live_51h8xyzabcdefg": false, "my_key": false, "K9X2_7QPL4M8N_A1B2": false, "Tk_AbCdEfGh": false, "ABCDEFGHIJKLMNOPQRSTUVWXYZ": false,
		"gsk_0123456789abcdefghij": false, "550e8400_e29b_41d4_a716_446655440000": false,
	} {
		if value, err := FromVariable(name, env); err == nil || value != "" || strings.Contains(err.Error(), name) != shown {
			t.Errorf("%s: %q, %v", name, value, err)
		}
	}
	if value, err := FromVariable("tk_live_4c0ffee", env); value != "k" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
}

func TestFileError(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "tk_link")
	if err := os.Symlink(filepath.Join(dir, "gone"), link); err != nil {
		t.Skip(err)
	}
	for path, shown := range map[string]bool{
		"tk_live_4c0ffee": false, "dGhpcw/aXM": false, filepath.Join(dir, "no-such"): true, filepath.Join(dir, "sk-TESTINPLACEOFFILE"): false, link: true,
	} {
		_, err := os.ReadFile(path)
		if said := FileError(path, err).Error(); strings.Contains(said, path) != shown {
			t.Errorf("%s: %s", path, said)
		}
	}
}

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
