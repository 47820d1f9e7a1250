//go:build !lean

package main

import (
	"net/http"
	"time"

	"tokenmeter/wire/sigv4"
)

// signer signs requests to Bedrock in a region.
func signer(access, secret, token, region string) func(*http.Request, []byte) error {
	return sigv4.New(sigv4.Keys{Access: access, Secret: secret, Token: token}, "bedrock", region, time.Now)
}
