package workload

import (
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/load/workload/records"
)

func (c *compiler) openText(name string) (io.ReadCloser, error) {
	f, err := limitio.Open(c.beside(name))
	if err != nil {
		return nil, bare(c.beside(name), err)
	}
	return f, nil
}

// beside finds a file that a workload file names.
func (c *compiler) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.dir, name)
}

func (c *compiler) users(out *class, k *Content, at func(string) string) {
	var words []string
	percent := func(s Share) string { return strconv.FormatFloat(100*float64(s), 'g', 4, 64) + " % " }
	if l := k.Leave; l != nil {
		c.refuse(l.After == "" && l.Tokens == "", at("leave"), "when do they leave? Give after, tokens, or both")
		out.leave = &leave{share: float64(l.Share), after: c.pause(l.After, at("leave.after")), tokens: c.count(l.Tokens, at("leave.tokens"), MaxTokens)}
		when := []string{l.After, l.Tokens + " pieces of text"}
		if l.After == "" {
			when = when[1:]
		} else if l.Tokens == "" {
			when = when[:1]
		}
		if l.Share > 0 {
			words = append(words, percent(l.Share)+"leave after "+strings.Join(when, " or "))
		}
	}
	if s := k.Slow; s != nil {
		c.refuse(s.BytesPerSec < 1, at("slow.bytes_per_s"), "%d bytes a second; want at least 1", s.BytesPerSec)
		out.slow = &slow{share: float64(s.Share), rate: s.BytesPerSec}
		if s.Share > 0 {
			words = append(words, percent(s.Share)+"read "+strconv.FormatInt(s.BytesPerSec, 10)+" bytes/s")
		}
	}
	out.users = strings.Join(words, ", ")
}

// file opens a class's file and looks at its first records.
func (c *compiler) file(out *class, k *Content, at func(string) string) {
	for name := range k.Columns {
		c.refuse(!slices.Contains(fieldNames(), name), at("columns."+name), "%q is no column of ours; want %s", name, strings.Join(fieldNames(), ", "))
	}
	c.refuse(k.Sessions && (k.Order == "random" || k.Turns != ""), at("sessions"), "sessions are sent as they were recorded: leave out order and turns")
	if c.Failed(at("format")) || c.Failed(at("file")) {
		return
	}
	path := c.beside(k.File)
	f, name, err := records.OpenFile(path)
	if err != nil {
		c.Addf(at("file"), "%v", bare(path, err))
		return
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		c.Addf(at("file"), "%v", bare(path, err))
		return
	}
	var form records.Form
	switch k.Format {
	case "text":
		form = records.Text
	case "csv", "burstgpt", "azure":
		form = records.CSV
	case "parquet":
		form = records.Parquet
	case "jsonl", "mooncake", "aiperf", "bailian":
		if strings.ToLower(filepath.Ext(name)) != ".json" {
			form = records.JSONL
		}
	}
	file, err := records.Open(name, f, info.Size(), form)
	if err == nil {
		said := besides{len(k.Models) > 0 || c.opt.OneModel != "", c.opt.OneModel, c.opt.Checks && out.name == checkClass}
		if len(k.Models) > 0 { // which go before it
			said.model = ""
		}
		out.source, err = openSource(file, k.Format, k.TimeIn, k.Block, k.Columns, said)
	}
	if err == nil && k.Order == "random" {
		seed := out.seed
		out.source.shuffle = &seed
		_, err = out.source.count()
	} else if err == nil {
		err = out.source.check(c.opt.Strict)
	}
	if err == nil {
		c.refuse(k.Turns != "" && out.source.lengths, at("turns"), "turns are cut from conversations, and the file's records are lengths: leave turns out")
		c.refuse(c.opt.Checks && out.name == checkClass && !out.source.answers, at("file"),
			"no record of %s has an answer to check, of the first %d: want a column answer, expected or check", file.Name, ahead)
		if k.Sessions || out.source.delayed && k.Order != "random" && k.Turns == "" {
			err = out.source.group()
		}
	}
	if err != nil {
		out.source = nil
		f.Close()
		c.Addf(at("file"), "%v", err)
	}
}

// when checks the load as far as it can be told without flags.
func (c *compiler) when(w *When) {
	for field, bad := range map[string]bool{
		"when.concurrency": w.Concurrency < 0, "when.requests": w.Requests < 0, "when.duration": w.Duration < 0,
		"when.ramp": w.Ramp < 0, "when.cooldown": w.Cooldown < 0, "when.grace": w.Grace < 0, "when.pace": w.Pace < 0,
		"when.prefill_concurrency": w.Prefills < 0, "when.rate": w.Rate < 0 || math.IsNaN(w.Rate) || math.IsInf(w.Rate, 0),
	} {
		c.refuse(bad, field, "%s can't be negative", strings.TrimPrefix(field, "when."))
	}
	c.refuse(w.Rate > 0 && w.Stages != "", "when.stages", "rate and stages exclude each other")
	c.refuse(w.Closed && w.Stages == "", "when.closed", "closed belongs to stages; a closed loop of one size is concurrency")
	shaped := w.Arrival != "" || w.Burstiness != 0
	closed := w.Closed || w.Stages == "" && w.Rate == 0 && w.Concurrency > 0
	c.refuse(shaped && w.Trace == nil && closed, "when.arrival", "arrival and burstiness belong to an open loop, which has a rate or stages of rates")
	k := c.out.classes[0]
	timed := k.source != nil && k.source.timed || k.recording != nil && k.recording.file.Timed
	if w.Trace == nil || !(timed && len(c.out.classes) == 1) && c.out.Waits() && w.Trace.From == 0 && w.Trace.To == 0 {
		return // of files without times the gaps within sessions are played faster, whatever the load is
	}
	c.refuse(shaped || w.Rate > 0 || w.Stages != "", "when.trace", "a trace has times of its own: leave out rate, stages, arrival and burstiness")
	c.refuse(len(c.out.classes) > 1, "when.trace", "the times of a file are played where it is all that is sent, not as a part of a mix")
	c.refuse(len(c.out.classes) == 1 && !timed, "when.trace", "there is no file whose times could be played")
}
