package main

import (
	"net/http"
	"strings"

	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// amazonEndpoint is the variable by which users of Amazon's SDKs name a host of their
// own for Bedrock.
const amazonEndpoint = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"

// sign has requests to Bedrock signed with Amazon's own keys, where the environment has
// them and there is no other key. They prove something to Bedrock alone, so no other
// host gets them, unless the user named it.
func (c *targetFlags) sign(cfg *client.Config, check *checker, a *app) {
	value := func(name string) string {
		v, _ := a.env(name)
		return strings.TrimSpace(v)
	}
	host, own := hostOf(c.URL), value(amazonEndpoint)
	region, ours := bedrockRegion(host)
	access, secret, token := value("AWS_ACCESS_KEY_ID"), value("AWS_SECRET_ACCESS_KEY"), value("AWS_SESSION_TOKEN")
	if !ours && (own == "" || hostOf(own) != host) || access == "" && secret == "" || cfg.Key != "" || cfg.Header.Get("Authorization") != "" {
		return
	}
	if access == "" || secret == "" {
		lacks, has := "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"
		if access == "" {
			lacks, has = has, lacks
		}
		a.warn("warning: requests are not signed, as %s is set and %s is not", has, lacks)
		return
	}
	if !c.private() {
		a.warn("warning: requests are not signed, as %s would carry AWS_SESSION_TOKEN in clear; use https://", host)
		return
	}
	from := ""
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region == "" {
			from, region = name, value(name)
		}
	}
	switch {
	case region == "":
		check.addf("AWS_REGION: it is empty, and %s does not tell the region that requests are signed for: set it", host)
		return
	case strings.ContainsFunc(region, outOfScope):
		check.addf("%s: %.40q is no region; set it to one like eu-west-1", from, region)
		return
	case strings.ContainsFunc(access, outOfScope):
		check.addf("AWS_ACCESS_KEY_ID: it holds a character that no key's id has, as a blank, a comma or a line end: set it again")
		return
	}
	if cfg.Sign = signer(access, secret, token, region); cfg.Sign == nil {
		a.warn("warning: this build (tag lean) signs no requests; build without the tag, or set AWS_BEARER_TOKEN_BEDROCK")
		return
	}
	if token != "" {
		if cfg.Header == nil {
			cfg.Header = http.Header{}
		}
		cfg.Header.Set("X-Amz-Security-Token", token) // which keeps it out of what is written
	}
}

// outOfScope reports what would end a part of a signature's scope, or the header that
// the scope is in.
func outOfScope(r rune) bool { return r <= ' ' || r > '~' || r == '/' || r == ',' }

// bedrockRegion is the region in the name of a host of Bedrock's; false for another host.
func bedrockRegion(host string) (string, bool) {
	service, rest, _ := strings.Cut(host, ".")
	if service != "bedrock-runtime" && service != "bedrock-runtime-fips" || api.ProviderOf(host) == nil {
		return "", false
	}
	region, _, _ := strings.Cut(rest, ".")
	return region, true
}
