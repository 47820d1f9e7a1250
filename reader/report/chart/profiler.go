package chart

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

func profiled(r *run.Run) bool {
	return slices.ContainsFunc(r.Control, func(a run.Act) bool { return a.Profiled() })
}

// profilerFigure is when the server's profiler ran, with its start and its stop on the
// time axis that the other charts have, and links to the files that it wrote.
func profilerFigure(r *run.Run, c *gather.Gathered) Figure {
	f := Figure{ID: "profiler-over-time", Title: "The server's profiler", Sub: "what was measured meanwhile tells little of the server's speed"}
	for i := range r.Control {
		if a := &r.Control[i]; a.Profiled() {
			f.addFiles(a)
		}
	}
	if c.N == 0 || c.Grid.Used == 0 {
		f.Empty = "No request is known by its time."
		return f
	}
	p := NewPlot(70, timeAxis(c), LinearAxis(0, 1))
	p.wide = true
	p.Frame()
	timeTicks(p, p.X.Hi)
	sentence := f.Title
	for i := range r.Control {
		if a := &r.Control[i]; a.Profiled() {
			sentence += ": " + markProfile(p, a)
		}
	}
	f.Chart = HTML(p, sentence+".")
	return f
}

// markProfile draws from when until when the profiler ran, and returns that in words.
func markProfile(p *Plot, a *run.Act) string {
	to, stopped := a.ToS.Get()
	start, stop := "start "+seconds(a.FromS), "stop "+seconds(to)
	if !stopped {
		to, stop = p.X.Hi, "not stopped"
	}
	first, last := min(a.FromS, p.X.Hi), min(to, p.X.Hi)
	from, until := p.X.At(first), p.X.At(last)
	p.Field.Put(`<rect class="fill bad" x="%s" y="0" width="%s" height="1000"/>`, Coordinate(from*1000), Coordinate(max(until-from, 0.002)*1000))
	words := start + ", " + stop
	if until-from < leastApart {
		p.XLabel(first, labelled, words, false)
	} else {
		p.XLabel(first, labelled, start, false)
		p.XLabel(last, labelled, stop, false)
	}
	return words
}

const (
	leastApart = 0.2  // of the axis: nearer to each other the words of start and stop meet
	labelled   = 14.0 // px from the top
)

// addFiles links what was found of the profile. Where the folder of a run is read
// elsewhere the links outside of it lead nowhere; their texts say where the files were.
func (f *Figure) addFiles(a *run.Act) {
	if a.Files != "" {
		f.Keys = append(f.Keys, Key{"", "files in " + typeset.Short(typeset.Clean(a.Files), 200)})
	}
	for _, file := range a.Found[:min(len(a.Found), rowsMax)] {
		at := url.URL{Path: filepath.ToSlash(file.Path)}
		if filepath.IsAbs(file.Path) {
			at.Scheme = "file"
			if at.Path[0] != '/' { // C:/traces
				at.Path = "/" + at.Path
			}
		} else if !filepath.IsLocal(file.Path) {
			continue
		} else {
			at.Path = "./" + at.Path
		}
		f.Links = append(f.Links, Link{at.String(), fmt.Sprintf("%s (%s bytes)", typeset.Short(typeset.Clean(file.Path), 200), typeset.Count(file.Bytes))})
	}
}

func seconds(s float64) string { return typeset.Span(s*1e3, typeset.Digits{}) }
