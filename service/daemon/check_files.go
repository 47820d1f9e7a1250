package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/base/secret"
)

func (c *checker) authorities(at, path string) *x509.CertPool {
	pem, err := limitio.File(path, mostPEM)
	if err != nil {
		c.addf(at, "%v", err)
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		c.addf(at, "%s holds no certificate (PEM)", path)
	}
	return pool
}

// keyPair reads the certificate and the key that the fields cert and key name.
func (c *checker) keyPair(at, certFile, keyFile string) (pair tls.Certificate, ok bool) {
	cert, certErr := limitio.File(certFile, mostPEM)
	if certErr != nil {
		c.addf(at+".cert", "%v", certErr)
	}
	key, keyErr := limitio.File(keyFile, mostPEM)
	if keyErr != nil {
		c.addf(at+".key", "%v", keyErr)
	}
	if certErr != nil || keyErr != nil {
		return pair, false
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		c.addf(at+".cert", "certificate and key can't be used: %v", err)
	}
	return pair, err == nil
}

// secret reads a secret from the environment or a file.
func (c *checker) secret(at, env, file string, fieldEnv, fieldFile string) string {
	switch {
	case env != "" && file != "":
		c.addf(at+"."+fieldFile, "%s and %s are both given", fieldEnv, fieldFile)
	case env != "":
		value, err := secret.FromVariable(env, c.env)
		if err != nil {
			c.addf(at+"."+fieldEnv, "%v", err)
		}
		return value
	case file != "":
		data, err := limitio.File(file, mostSecret)
		if err != nil {
			c.addf(at+"."+fieldFile, "%v", secret.FileError(file, err))
			return ""
		}
		value := strings.TrimSpace(string(data))
		if value == "" {
			c.addf(at+"."+fieldFile, "%s is empty", file)
		}
		return value
	}
	return ""
}
