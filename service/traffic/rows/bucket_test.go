package rows

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signature works out Signature Version 4 as Amazon's documentation describes
// it, from the request as it came.
func signature(q *http.Request, path, secretKey string) string {
	fields := map[string]string{}
	_, rest, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	for _, part := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 {
		return "no scope"
	}
	var headers strings.Builder
	for _, name := range strings.Split(fields["SignedHeaders"], ";") {
		value := q.Header.Get(name)
		switch name {
		case "host":
			value = q.Host
		case "content-length":
			value = fmt.Sprint(q.ContentLength)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	canonical := strings.Join([]string{q.Method, path, q.URL.RawQuery, headers.String(), fields["SignedHeaders"], q.Header.Get("X-Amz-Content-Sha256")}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", q.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), hex.EncodeToString(sum[:])}, "\n")
	key := mac(mac(mac(mac([]byte("AWS4"+secretKey), scope[1]), scope[2]), scope[3]), scope[4])
	return hex.EncodeToString(mac(key, toSign))
}

// The published example of a PUT checks the checker.
func TestTheCheckerOnAmazonsExample(t *testing.T) {
	q := httptest.NewRequest("PUT", "http://examplebucket.s3.amazonaws.com/test%24file.text", nil)
	for name, value := range map[string]string{
		"Date": "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Date": "20130524T000000Z", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY",
		"X-Amz-Content-Sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
		"Authorization":        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=x",
	} {
		q.Header.Set(name, value)
	}
	const want = "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
	if got := signature(q, "/test%24file.text", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

const (
	accessKey = "AKIDTESTTESTTEST"
	secretKey = "the/secret+key/of/this/test"
)

// s3 is a bucket in memory that takes only what is signed.
type s3 struct {
	mu    sync.Mutex
	files map[string][]byte
	away  bool
	wrong []string
}

func (s *s3) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(q.Body)
	sum := sha256.Sum256(body)
	// What S3 signs is the name as it escapes it itself.
	path := escapedByS3(q.URL.Path)
	_, given, _ := strings.Cut(q.Header.Get("Authorization"), "Signature=")
	switch {
	case s.away:
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "<Error><Key>%s</Key><SecretKey>%s</SecretKey></Error>", accessKey, secretKey)
		return
	case q.Method != http.MethodPut, given != signature(q, path, secretKey), q.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]),
		q.ContentLength != int64(len(body)):
		s.wrong = append(s.wrong, fmt.Sprintf("%s %s: %v", q.Method, q.URL, q.Header))
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s.files[strings.TrimPrefix(q.URL.Path, "/bucket/")] = body
}

func escapedByS3(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c == '=' || c == '+' || c == ' ' || c == '$' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Files that can't be uploaded wait, over restarts, and get there once there is
// somebody.
func TestUploads(t *testing.T) {
	server := &s3{files: map[string][]byte{}, away: true}
	listener := httptest.NewServer(server)
	defer listener.Close()
	bucket, err := NewBucket(BucketOptions{Endpoint: listener.URL, Bucket: "bucket", Prefix: "live rows/a+b", AccessKey: accessKey, SecretKey: secretKey, Token: "token-of-a-session"})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	open := func() *Archive {
		a, err := Open(Options{Folder: folder, Bucket: bucket, Now: func() time.Time { return begin }})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := open()
	for i := range 100 {
		a.Done(request(i, begin.Add(time.Duration(i)*50*time.Millisecond)))
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if len(server.files) != 0 || a.Failed() == 0 {
		t.Fatalf("%d files, %d failures", len(server.files), a.Failed())
	}
	server.mu.Lock()
	server.away = false
	server.mu.Unlock()
	if err := open().Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range Files(folder) {
		have, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Equal(have, server.files["live rows/a+b/"+filepath.ToSlash(name)]) {
			t.Errorf("%s did not get there (%v)", name, err)
		}
	}
	if len(server.files) != 2 || len(server.wrong) != 0 {
		t.Errorf("%d files; refused: %q", len(server.files), server.wrong)
	}
	if left, _ := os.ReadDir(filepath.Join(folder, waiting)); len(left) != 0 {
		t.Errorf("still waiting: %v", left)
	}
}

// An error names the file and no key, whatever the server says.
func TestErrorsHoldNoKeys(t *testing.T) {
	server := &s3{files: map[string][]byte{}, away: true}
	listener := httptest.NewServer(server)
	defer listener.Close()
	bucket, err := NewBucket(BucketOptions{Endpoint: listener.URL, Bucket: "bucket", AccessKey: accessKey, SecretKey: secretKey})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f")
	os.WriteFile(path, []byte("x"), 0o600)
	f, _ := os.Open(path)
	defer f.Close()
	err = bucket.Put(t.Context(), "date=2026-03-01/live-x.parquet", f)
	if err == nil || !strings.Contains(err.Error(), "live-x.parquet") || !strings.Contains(err.Error(), "503") {
		t.Fatal(err)
	}
	for _, key := range []string{accessKey, secretKey} {
		if strings.Contains(err.Error(), key) {
			t.Errorf("a key is in %q", err)
		}
	}
}

// S3 says which token has expired: whole, or its start where the answer is cut.
func TestExpiredToken(t *testing.T) {
	token := strings.Repeat("IQoJb3JpZ2luX2Vj/+", 40) + "=="
	for _, before := range []int{0, 200, 254, 290, 3900} {
		listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, "<Error><Code>ExpiredToken</Code>%s<Token-0>%s</Token-0></Error>", strings.Repeat(".", before), token)
		}))
		bucket, err := NewBucket(BucketOptions{Endpoint: listener.URL, Bucket: "bucket", AccessKey: accessKey, SecretKey: secretKey, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		if err != nil {
			t.Fatal(err)
		}
		err = bucket.Put(t.Context(), "x", f)
		f.Close()
		listener.Close()
		if err == nil || !strings.Contains(err.Error(), "ExpiredToken") || strings.Contains(err.Error(), "IQoJ") || len(err.Error()) > 400 {
			t.Errorf("%d: %v", before, err)
		}
	}
}

func TestAddressesOfBuckets(t *testing.T) {
	for text, good := range map[string]bool{"https://s3.eu-central-1.amazonaws.com": true, "http://127.0.0.1:9000/": true, "https://h/storage/v1/s3": true,
		"": false, "s3://bucket": false, "127.0.0.1:9000": false, "https://key:secret@h": false, "https://h?x=1": false} {
		if _, err := NewBucket(BucketOptions{Endpoint: text, Bucket: "b"}); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got := escaped("/b/date=1/a b+c~d_é"); got != "/b/date%3D1/a%20b%2Bc~d_%C3%A9" {
		t.Error(got)
	}
}
