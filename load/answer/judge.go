package answer

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"tokenmeter/base/pattern"
	"tokenmeter/base/secret"
)

// Judge is a model that says whether an answer is right.
type Judge struct {
	URL       string `yaml:"url" json:"url" required:"true" doc:"where it is: a server that speaks openai-chat; best another one than the one that is measured"`
	Model     string `yaml:"model" json:"model" required:"true" doc:"its name there"`
	APIKeyEnv string `yaml:"api_key_env" json:"api_key_env,omitempty" doc:"environment variable that holds its key"`
	Prompt    string `yaml:"prompt" json:"prompt,omitempty" doc:"what it is asked, with {question}, {answer} and {reference} in it; default: whether the answer is right, PASS or FAIL"`
	Pass      string `yaml:"pass" json:"pass,omitempty" doc:"regular expression of a verdict that passes; default: the last PASS or FAIL of the reply is PASS"`

	pass      *regexp.Regexp
	reference string
}

const judgePrompt = `You check answers.

Question:
{question}

{reference}Answer to check:
{answer}

Is the answer right and does it do what the question asks? Think briefly, then end with one word: PASS or FAIL.`

func (j *Judge) compile() (*Judge, error) {
	out := *j
	var errs []error
	if u, err := url.Parse(j.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		errs = append(errs, errors.New("url: give the judge's URL, like http://localhost:8001/v1"))
	}
	if j.Model == "" {
		errs = append(errs, errors.New("model: name the judge's model"))
	}
	if j.Prompt != "" && !strings.Contains(j.Prompt, "{answer}") {
		errs = append(errs, errors.New("prompt: it has no {answer}"))
	}
	if j.APIKeyEnv != "" {
		if err := secret.Variable(j.APIKeyEnv); err != nil {
			errs = append(errs, fmt.Errorf("api_key_env: %w", err))
		}
	}
	if j.Pass != "" {
		re, err := regexp.Compile(j.Pass)
		if err != nil {
			errs = append(errs, fmt.Errorf("pass: %w", err))
		}
		out.pass = re
	}
	return &out, errors.Join(errs...)
}

// Judge is who has to be asked beside what [Check.Passes] says; nil: nobody.
func (c *Check) Judge() *Judge {
	if c == nil {
		return nil
	}
	return c.judge
}

// JudgedBy leaves the verdict to the judge of another check, who is told what
// this one expects. Without such a judge it is c itself.
func (c *Check) JudgedBy(other *Check) *Check {
	if c == nil || other.Judge() == nil {
		return c
	}
	j := *other.judge
	j.reference = strings.TrimSpace(c.text)
	return &Check{text: c.text, judge: &j}
}

// Ask is what the judge is asked.
func (j *Judge) Ask(question, answer string) string {
	prompt, reference := j.Prompt, j.reference
	if prompt == "" {
		prompt = judgePrompt
		if reference != "" {
			reference = "What is expected of the answer:\n" + reference + "\n\n"
		}
	}
	return strings.NewReplacer("{question}", question, "{answer}", answer, "{reference}", reference).Replace(prompt)
}

var verdicts = pattern.Lazy(`\b(PASS|FAIL)\b`)

// Verdict reads the judge's reply; known is false where it says neither.
func (j *Judge) Verdict(reply string) (passes, known bool) {
	if j.pass != nil {
		return j.pass.MatchString(reply), strings.TrimSpace(reply) != ""
	}
	all := verdicts().FindAllString(reply, -1)
	if len(all) == 0 {
		return false, false
	}
	return all[len(all)-1] == "PASS", true
}
