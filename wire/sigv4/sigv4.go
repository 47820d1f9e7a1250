// Package sigv4 signs requests to Amazon's services, which take no key but a proof of
// one: Signature Version 4, by the signer of Amazon's own SDK.
package sigv4

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Keys are whose requests they are. Token is that of temporary keys; empty: none.
type Keys struct{ Access, Secret, Token string }

// New returns what signs requests to a service in a region: it adds the headers that
// tell who asks, and when. now is the wall clock, which must be right to 5 minutes.
func New(k Keys, service, region string, now func() time.Time) func(*http.Request, []byte) error {
	signer := v4.NewSigner()
	keys := aws.Credentials{AccessKeyID: k.Access, SecretAccessKey: k.Secret, SessionToken: k.Token}
	return func(r *http.Request, body []byte) error {
		sum := sha256.Sum256(body)
		return signer.SignHTTP(context.Background(), keys, r, hex.EncodeToString(sum[:]), service, region, now())
	}
}
