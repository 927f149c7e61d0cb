package sides

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// Snapshot is the path of a snapshot with its time.
type Snapshot struct {
	Path string
	at   time.Time
}

// FormatTime writes the time as answers do.
func (m Snapshot) FormatTime() string { return m.at.UTC().Format(time.RFC3339) }

// ListSnapshots returns the snapshots of a folder, or of a pattern, by time.
func ListSnapshots(path string) ([]Snapshot, error) {
	if path == "" {
		return nil, failure.Usage("name the folder with --snapshots DIR", "there are no snapshots to read")
	}
	if _, err := os.Stat(path); err != nil && !localfile.IsPattern(path) {
		return nil, failure.NoAnswer(fmt.Sprintf("reading the snapshots: %s", err), "name a folder with --snapshots")
	}
	files, err := localfile.Expand(path)
	if err != nil {
		return nil, err
	}
	var out []Snapshot
	for _, file := range files {
		info, err := os.Stat(file)
		if err == nil && info.IsDir() {
			continue
		}
		at, err := readSnapshotTime(file)
		if err != nil {
			return nil, failure.NoAnswer(fmt.Sprintf("reading the snapshots: %s", err), "")
		}
		out = append(out, Snapshot{file, at})
	}
	slices.SortFunc(out, func(a, b Snapshot) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	if len(out) == 0 {
		return nil, failure.NoAnswer(path+" holds no snapshots", "take some with: kubectl dopolicy snapshot -o FILE")
	}
	return out, nil
}

// readSnapshotTime returns when a snapshot was taken: as its header says, else as its file is
// called, else when its file was changed.
func readSnapshotTime(file string) (time.Time, error) {
	at, err := load.SnapshotTime(file)
	if err != nil {
		return at, err
	}
	if !at.IsZero() {
		return at, nil
	}
	if at, ok := parseTimeInName(filepath.Base(file)); ok {
		return at, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return at, err
	}
	return info.ModTime().UTC().Truncate(time.Second), nil
}

// timeInName finds a day, and a time of it, in the name of a file: 2026-01-31, 20260131T1200,
// 2026-01-31T12-00-05Z.
var timeInName = regexp.MustCompile(`(\d{4})-?(\d{2})-?(\d{2})(?:[T_-]?(\d{2})[:-]?(\d{2})(?:[:-]?(\d{2}))?)?`)

// parseTimeInName returns the time in a file's name, in UTC.
func parseTimeInName(name string) (time.Time, bool) {
	m := timeInName.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	digits := strings.Join(m[1:], "")
	at, err := time.Parse("20060102150405"[:len(digits)], digits)
	return at, err == nil
}

// parseTime reads what --at says: a time, or a day, at whose beginning it is.
func parseTime(text string) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04",
		time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, failure.Usage("write 2026-01-31T12:00:00Z, 2026-01-31T12:00 or 2026-01-31 (in UTC)",
		"--at %q is no time", text)
}

// chooseAt returns the sides that --at names.
func (f *Flags) chooseAt(args []string) (from, to Side, err error) {
	switch {
	case len(args) > 0, f.From != "", f.To != "", f.ToContext != "":
		return from, to, failure.Usage("drop one of the two", "--at names the sides, and nothing else can")
	case len(f.At) > 2:
		return from, to, failure.Usage("a comparison has two sides", "--at can be given twice at most")
	case f.Snapshots == "":
		return from, to, failure.Usage("name the folder with --snapshots DIR", "--at needs snapshots")
	}
	all, err := ListSnapshots(f.Snapshots)
	if err != nil {
		return from, to, err
	}
	states := []Snapshot{{}, all[len(all)-1]}
	for i, text := range f.At {
		at, err := parseTime(text)
		if err != nil {
			return from, to, err
		}
		if states[i], err = findSnapshotAt(all, at); err != nil {
			return from, to, err
		}
	}
	from, to = Side{Text: states[0].Path}, Side{Text: states[1].Path}
	if from == to && !f.hasOverlay() && len(f.Deleted) == 0 {
		return from, to, failure.Usage("name times that are further apart",
			"both sides are %s, of %s: there is nothing to compare", from.Text, states[0].FormatTime())
	}
	return from, to, nil
}

// findSnapshotAt returns the last snapshot that was taken at a time or before it.
func findSnapshotAt(all []Snapshot, at time.Time) (Snapshot, error) {
	after := slices.IndexFunc(all, func(m Snapshot) bool { return m.at.After(at) })
	switch after {
	case 0:
		return Snapshot{}, failure.NoAnswer("no snapshot is as old as "+at.UTC().Format(time.RFC3339),
			"the first is of "+all[0].FormatTime())
	case -1:
		return all[len(all)-1], nil
	}
	return all[after-1], nil
}
