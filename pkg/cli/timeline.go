package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// moment is a snapshot with its time.
type moment struct {
	path string
	at   time.Time
}

// text is the time as answers write it.
func (m moment) text() string { return m.at.UTC().Format(time.RFC3339) }

// timeline are the snapshots of a folder, or of a pattern, by time.
func timeline(path string) ([]moment, error) {
	if path == "" {
		return nil, usage("name the folder with --snapshots DIR", "there are no snapshots to read")
	}
	if _, err := os.Stat(path); err != nil && !isPattern(path) {
		return nil, &noAnswer{fmt.Sprintf("reading the snapshots: %s", err), "name a folder with --snapshots"}
	}
	files, err := expanded(path)
	if err != nil {
		return nil, err
	}
	var out []moment
	for _, file := range files {
		info, err := os.Stat(file)
		if err == nil && info.IsDir() {
			continue
		}
		at, err := momentOf(file)
		if err != nil {
			return nil, &noAnswer{fmt.Sprintf("reading the snapshots: %s", err), ""}
		}
		out = append(out, moment{file, at})
	}
	slices.SortFunc(out, func(a, b moment) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	if len(out) == 0 {
		return nil, &noAnswer{path + " holds no snapshots", "take some with: kubectl dopolicy snapshot -o FILE"}
	}
	return out, nil
}

// momentOf is when a snapshot was taken: as its header says, else as its file is called, else when its file was changed.
func momentOf(file string) (time.Time, error) {
	at, err := load.ReadAt(file)
	if err != nil {
		return at, err
	}
	if !at.IsZero() {
		return at, nil
	}
	if at, ok := momentNamed(filepath.Base(file)); ok {
		return at, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return at, err
	}
	return info.ModTime().UTC().Truncate(time.Second), nil
}

// named finds a day, and a time of it, in the name of a file: 2026-01-31, 20260131T1200, 2026-01-31T12-00-05Z.
var named = regexp.MustCompile(`(\d{4})-?(\d{2})-?(\d{2})(?:[T_-]?(\d{2})[:-]?(\d{2})(?:[:-]?(\d{2}))?)?`)

// momentNamed is the time in a file's name, in UTC.
func momentNamed(name string) (time.Time, bool) {
	m := named.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	digits := strings.Join(m[1:], "")
	at, err := time.Parse("20060102150405"[:len(digits)], digits)
	return at, err == nil
}

// parseMoment reads what --at says: a time, or a day, at whose beginning it is.
func parseMoment(text string) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usage("write 2026-01-31T12:00:00Z, 2026-01-31T12:00 or 2026-01-31 (in UTC)", "--at %q is no time", text)
}

// moments are the sides that --at names.
func (f *diffFlags) moments(args []string) (from, to sideOf, err error) {
	switch {
	case len(args) > 0, f.from != "", f.to != "", f.toContext != "":
		return from, to, usage("drop one of the two", "--at names the sides, and nothing else can")
	case len(f.at) > 2:
		return from, to, usage("a comparison has two sides", "--at can be given twice at most")
	case f.timeline == "":
		return from, to, usage("name the folder with --snapshots DIR", "--at needs snapshots")
	}
	all, err := timeline(f.timeline)
	if err != nil {
		return from, to, err
	}
	states := []moment{{}, all[len(all)-1]}
	for i, text := range f.at {
		at, err := parseMoment(text)
		if err != nil {
			return from, to, err
		}
		if states[i], err = stateAt(all, at); err != nil {
			return from, to, err
		}
	}
	from, to = sideOf{text: states[0].path}, sideOf{text: states[1].path}
	if from == to && !f.over() && len(f.deleted) == 0 {
		return from, to, usage("name times that are further apart", "both sides are %s, of %s: there is nothing to compare", from.text, states[0].text())
	}
	return from, to, nil
}

// stateAt is the last snapshot that was taken at a time or before it.
func stateAt(all []moment, at time.Time) (moment, error) {
	after := slices.IndexFunc(all, func(m moment) bool { return m.at.After(at) })
	switch after {
	case 0:
		return moment{}, &noAnswer{"no snapshot is as old as " + at.UTC().Format(time.RFC3339), "the first is of " + all[0].text()}
	case -1:
		return all[len(all)-1], nil
	}
	return all[after-1], nil
}
