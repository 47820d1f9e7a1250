package sigv4

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

// The signatures are those of Amazon's test suite (aws-sig-v4-test-suite: get-vanilla,
// post-vanilla), and of botocore 1.44.8 (tools/oracle/sigv4.py).
func TestSignatures(t *testing.T) {
	suite := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	today := time.Date(2026, 11, 29, 13, 0, 0, 0, time.FixedZone("CET", 3600))
	const runtime = "https://bedrock-runtime.eu-west-1.amazonaws.com"
	for _, c := range []struct {
		name, method, url, body, token, service, region string
		at                                              time.Time
		signed, signature                               string
	}{
		{"get-vanilla", "GET", "https://example.amazonaws.com/", "", "", "service", "us-east-1", suite,
			"host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"post-vanilla", "POST", "https://example.amazonaws.com/", "", "", "service", "us-east-1", suite,
			"host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"a stream", "POST", runtime + "/model/amazon.nova-lite-v1:0/converse-stream", `{"messages":[]}`, "", "bedrock", "eu-west-1", today,
			"content-type;host;x-amz-date", "08ee0ae3feec27bc0d29c937b005530b60609c0de7314cd1a24edc1618db3fea"},
		{"temporary keys", "POST", runtime + "/model/amazon.nova-lite-v1:0/converse-stream", `{"messages":[]}`, "a/session+token==", "bedrock", "eu-west-1", today,
			"content-type;host;x-amz-date;x-amz-security-token", "9742eefdb395d5f9e88a4f9d34eb49c1cd1ec9c73634e9359a49a946615a1adb"},
		{"a profile's name with a slash", "POST", runtime + "/model/arn:aws:bedrock:eu-west-1:1:inference-profile%2Feu.x/converse", "", "", "bedrock", "eu-west-1", today,
			"content-type;host;x-amz-date", "2e7efde87a68f18f5c4ef394b9d0c92ebf0524fb4b223bc6e9182f384ccbe5b5"},
	} {
		r, err := http.NewRequest(c.method, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.service == "bedrock" {
			r.Header.Set("Content-Type", "application/json")
		}
		sign := New(Keys{"AKIDEXAMPLE", secret, c.token}, c.service, c.region, func() time.Time { return c.at })
		if err := sign(r, []byte(c.body)); err != nil {
			t.Fatal(c.name, err)
		}
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/" + c.at.UTC().Format("20060102") + "/" + c.region + "/" + c.service +
			"/aws4_request, SignedHeaders=" + c.signed + ", Signature=" + c.signature
		if got := r.Header.Get("Authorization"); got != want {
			t.Errorf("%s: %s\nwant %s", c.name, got, want)
		}
		if r.Header.Get("X-Amz-Date") != c.at.UTC().Format("20060102T150405Z") || r.Header.Get("X-Amz-Security-Token") != c.token {
			t.Errorf("%s: %v", c.name, r.Header)
		}
		for _, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), secret) {
				t.Errorf("%s: the secret is sent", c.name)
			}
		}
	}
}
