package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"tokenmeter/record/run"
	"tokenmeter/service/traffic/rows"
)

// Rows is where rows of live requests go, as Parquet files; see package rows.
type Rows struct {
	Folder string        `yaml:"folder" required:"true" doc:"where the files are: date=2026-03-01/live-….parquet, by UTC day; no two daemons share one"`
	Every  time.Duration `yaml:"every" doc:"how often a file is finished; default 1h"`
	Days   int           `yaml:"days" doc:"how long files stay in the folder; default: for ever"`
	S3     *S3           `yaml:"s3" doc:"a bucket that gets the finished files too; default: none"`
}

// S3 is a bucket of Amazon S3 or a server that speaks as it does.
type S3 struct {
	Endpoint      string `yaml:"endpoint" required:"true" doc:"like https://s3.eu-central-1.amazonaws.com or http://127.0.0.1:9000"`
	Bucket        string `yaml:"bucket" required:"true"`
	Prefix        string `yaml:"prefix" doc:"before the names, like live"`
	Region        string `yaml:"region" doc:"default us-east-1, which other servers than Amazon's take"`
	AccessKeyEnv  string `yaml:"access_key_env" doc:"environment variable with the id of the key; default AWS_ACCESS_KEY_ID"`
	AccessKeyFile string `yaml:"access_key_file" doc:"file with it"`
	SecretKeyEnv  string `yaml:"secret_key_env" doc:"environment variable with the key; default AWS_SECRET_ACCESS_KEY"`
	SecretKeyFile string `yaml:"secret_key_file" doc:"file with it"`
	TokenEnv      string `yaml:"token_env" doc:"environment variable with the session token of temporary keys; default AWS_SESSION_TOKEN, where the keys come from the default variables and it is set"`
	CAFile        string `yaml:"ca_file" doc:"PEM file of the authority of its certificate"`
}

// The variables of keys that are used when none is named.
const (
	accessKeyEnv = "AWS_ACCESS_KEY_ID"
	secretKeyEnv = "AWS_SECRET_ACCESS_KEY"
)

func (c *checker) rows() {
	r := c.p.Config.Rows
	if r == nil {
		return
	}
	c.positive("rows.every", r.Every)
	if r.Every > 0 && (r.Every < time.Minute || r.Every > 24*time.Hour) {
		c.addf("rows.every", "choose between 1m and 24h")
	}
	c.notNegative("rows.days", r.Days)
	if !run.HasTables {
		c.addf("rows", "this build has no Parquet (tag lean); build without the tag, or leave rows out")
	}
	s := r.S3
	if s == nil || s.Endpoint == "" || s.Bucket == "" {
		return
	}
	if s.AccessKeyEnv == "" && s.AccessKeyFile == "" {
		s.AccessKeyEnv = accessKeyEnv
	}
	if s.SecretKeyEnv == "" && s.SecretKeyFile == "" {
		s.SecretKeyEnv = secretKeyEnv
	}
	o := rows.BucketOptions{Endpoint: s.Endpoint, Bucket: s.Bucket, Prefix: s.Prefix, Region: s.Region,
		AccessKey: c.secret("rows.s3", s.AccessKeyEnv, s.AccessKeyFile, "access_key_env", "access_key_file"),
		SecretKey: c.secret("rows.s3", s.SecretKeyEnv, s.SecretKeyFile, "secret_key_env", "secret_key_file")}
	if s.TokenEnv != "" {
		o.Token = c.secret("rows.s3", s.TokenEnv, "", "token_env", "")
	} else if s.AccessKeyEnv == accessKeyEnv && s.SecretKeyEnv == secretKeyEnv {
		o.Token, _ = c.env("AWS_SESSION_TOKEN") // it belongs to these two
	}
	if s.CAFile != "" {
		o.TLS = &tls.Config{RootCAs: c.authorities("rows.s3.ca_file", s.CAFile)}
	}
	bucket, err := rows.NewBucket(o)
	if err != nil {
		c.addf("rows.s3.endpoint", "%v", err)
		return
	}
	c.p.bucket = bucket
}

// openRows begins to keep rows; nil when they are not asked for.
func (d *Daemon) openRows(plan *Plan) (*rows.Archive, error) {
	r := plan.Config.Rows
	if r == nil {
		return nil, nil
	}
	a, err := rows.Open(rows.Options{Folder: r.Folder, Every: r.Every, Days: r.Days, Bucket: plan.bucket, Pricing: plan.pricing, Log: d.log})
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return a, nil
}

// closeRows finishes the last file.
func (d *Daemon) closeRows() error {
	if d.rows == nil {
		return nil
	}
	err := d.rows.Close()
	if n := d.rows.Dropped(); n > 0 {
		err = errors.Join(fmt.Errorf("requests that have no row, as they could not be written: %d", n), err)
	}
	if err != nil {
		return &LostError{fmt.Errorf("rows: %w", err)}
	}
	return nil
}
