package rows

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"tokenmeter/base/secret"
)

// BucketOptions are where a bucket is, and its keys.
type BucketOptions struct {
	Endpoint  string // https://s3.eu-central-1.amazonaws.com, http://127.0.0.1:9000
	Bucket    string
	Prefix    string // of names, like live; empty: none
	Region    string // empty: us-east-1, which servers other than Amazon's take
	AccessKey string
	SecretKey string
	Token     string // of temporary keys; empty: none
	TLS       *tls.Config
	Now       func() time.Time
}

// Bucket is a bucket of Amazon S3, or of a server that speaks as it does (MinIO,
// Ceph, Cloudflare R2, Google's interoperability). Names come behind the bucket's
// in the path.
type Bucket struct {
	o      BucketOptions
	base   *url.URL
	signer *v4.Signer
	client *http.Client
	redact *secret.Redactor
}

// NewBucket checks an address. It opens no connection.
func NewBucket(o BucketOptions) (*Bucket, error) {
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("this is no URL like https://s3.eu-central-1.amazonaws.com")
	case u.User != nil:
		return nil, errors.New("keys do not belong into the address")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("an endpoint ends with its host, or a path")
	}
	o.Region = cmp.Or(o.Region, "us-east-1")
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Prefix = strings.Trim(o.Prefix, "/")
	b := &Bucket{o: o, base: u, redact: secret.New(o.SecretKey, o.Token, o.AccessKey),
		signer: v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true }),
		client: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: o.TLS, ResponseHeaderTimeout: time.Minute, IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 1},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	return b, nil
}

// Put stores a file under a name. It replaces what is there.
func (b *Bucket) Put(ctx context.Context, name string, f *os.File) error {
	err := b.put(ctx, name, f)
	if err != nil {
		return errors.New(b.redact.Error(fmt.Errorf("%s was not stored in %s: %w", name, b.o.Bucket, err)))
	}
	return nil
}

func (b *Bucket) put(ctx context.Context, name string, f *os.File) error {
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, b.base.String(), io.NopCloser(f))
	if err != nil {
		return err
	}
	request.GetBody = func() (io.ReadCloser, error) { // when a kept connection turns out dead
		_, err := f.Seek(0, io.SeekStart)
		return io.NopCloser(f), err
	}
	full := strings.TrimSuffix(b.base.Path, "/") + "/" + b.o.Bucket + "/"
	if b.o.Prefix != "" {
		full += b.o.Prefix + "/"
	}
	full += name
	// S3 signs names as it escapes them itself: = and + too.
	request.URL.Path, request.URL.RawPath = full, escaped(full)
	request.ContentLength = size
	hash := hex.EncodeToString(sum.Sum(nil))
	request.Header.Set("Content-Type", "application/vnd.apache.parquet")
	request.Header.Set("X-Amz-Content-Sha256", hash)
	keys := aws.Credentials{AccessKeyID: b.o.AccessKey, SecretAccessKey: b.o.SecretKey, SessionToken: b.o.Token}
	if err := b.signer.SignHTTP(ctx, keys, request, hash, "s3", b.o.Region, b.o.Now()); err != nil {
		return err
	}
	response, err := b.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	said := b.redact.Start(string(body), 300)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %s: %s", response.Status, said)
	}
	return nil
}

// escaped writes a path with everything escaped but letters, digits and -._~/.
func escaped(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
