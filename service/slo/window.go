package slo

import (
	"fmt"
	"sort"
	"time"
)

// Window is the time that an objective is held against: rolling, or a calendar
// period in a time zone.
type Window struct {
	Rolling  time.Duration // 0 for a calendar window
	Calendar Calendar      // "" for a rolling one
	Location *time.Location
}

// Calendar is a period of the calendar.
type Calendar string

// The calendar periods. Weeks begin on Monday.
const (
	Day     Calendar = "day"
	Week    Calendar = "week"
	Month   Calendar = "month"
	Quarter Calendar = "quarter"
	Year    Calendar = "year"
)

func (w Window) String() string {
	if w.Calendar == "" {
		return "rolling " + span(w.Rolling)
	}
	return fmt.Sprintf("calendar %s in %s", w.Calendar, w.location())
}

func (w Window) location() *time.Location {
	if w.Location == nil {
		return time.UTC
	}
	return w.Location
}

// Bounds is the window at a moment: what counts began at from, and ends (or
// will end) at until. For a rolling window until is now.
func (w Window) Bounds(now time.Time) (from, until time.Time) {
	if w.Calendar == "" {
		return now.Add(-w.Rolling), now
	}
	loc := w.location()
	year, month, day := now.In(loc).Date()
	switch w.Calendar {
	case Week:
		day -= (int(now.In(loc).Weekday()) + 6) % 7
		return startOfDay(year, month, day, loc), startOfDay(year, month, day+7, loc)
	case Month:
		return startOfDay(year, month, 1, loc), startOfDay(year, month+1, 1, loc)
	case Quarter:
		month -= (month - 1) % 3
		return startOfDay(year, month, 1, loc), startOfDay(year, month+3, 1, loc)
	case Year:
		return startOfDay(year, 1, 1, loc), startOfDay(year+1, 1, 1, loc)
	}
	return startOfDay(year, month, day, loc), startOfDay(year, month, day+1, loc)
}

// startOfDay is the first moment of a day. It is searched for, because midnight
// is skipped, or comes twice, where clocks are put forward or back at that hour.
func startOfDay(year int, month time.Month, day int, loc *time.Location) time.Time {
	const back = 26 * time.Hour
	noon := time.Date(year, month, day, 12, 0, 0, 0, loc)
	want := dayNumber(noon)
	seconds := sort.Search(int(back/time.Second), func(s int) bool {
		return dayNumber(noon.Add(time.Duration(s)*time.Second-back)) >= want
	})
	return noon.Add(time.Duration(seconds)*time.Second - back)
}

func dayNumber(t time.Time) int {
	year, month, day := t.Date()
	return year*10_000 + int(month)*100 + day
}

// Period is the length that burn factors are made from: that of the window, of
// a calendar window its usual length.
func (w Window) Period() time.Duration {
	const day = 24 * time.Hour
	switch w.Calendar {
	case Day:
		return day
	case Week:
		return 7 * day
	case Month:
		return 30 * day
	case Quarter:
		return 91 * day
	case Year:
		return 365 * day
	}
	return w.Rolling
}
