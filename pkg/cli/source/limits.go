package source

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// LimitFlags say how much a run may read. What is beyond is not read, and a problem or an error
// says so.
type LimitFlags struct {
	Input, Document ByteSize
	Settings        int // what policies may write, counted at every target and way to it
}

// defaultSettings is as much as a hundred settings at each of ten thousand route rules.
const defaultSettings = 1_000_000

func (f *LimitFlags) addFlags(fs *pflag.FlagSet) {
	d := load.DefaultLimits()
	f.Input, f.Document = ByteSize(d.Total), ByteSize(d.Document)
	fs.Var(&f.Input, "max-input", "how much may be read in all, of files or of a cluster, unpacked")
	fs.Var(&f.Document, "max-document",
		"maximum size of one YAML document (four times that for one API response)")
	fs.IntVar(&f.Settings, "max-settings", defaultSettings,
		"how many settings policies may write, counted at each route rule and for each listener that leads to it")
	fs.Lookup("max-settings").Hidden = true
}

// CheckSize returns the error of an input whose answers would be too large.
func (s *Session) CheckSize() error {
	limit := cmp.Or(s.Flags.Limits.Settings, defaultSettings)
	if s.CountSettings(limit) <= limit {
		return nil
	}
	return failure.NoAnswer(fmt.Sprintf("policies write more than %d settings, counted at each route rule and for each "+
		"listener that leads to it", limit), "read less at once, or raise --max-settings")
}

func (f *LimitFlags) Values() load.Limits {
	return load.Limits{Total: int64(f.Input), Document: int(f.Document)}
}

// ByteSize is a number of bytes, written as 512Mi or 1Gi.
type ByteSize int64

var byteUnits = []struct {
	suffix string
	shift  int
}{{"Gi", 30}, {"Mi", 20}, {"Ki", 10}}

// String implements pflag.Value.
func (s *ByteSize) String() string {
	for _, u := range byteUnits {
		if n := int64(*s); n > 0 && n%(1<<u.shift) == 0 {
			return strconv.FormatInt(n>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set implements pflag.Value.
func (s *ByteSize) Set(text string) error {
	shift := 0
	for _, u := range byteUnits {
		if rest, found := strings.CutSuffix(text, u.suffix); found {
			text, shift = rest, u.shift
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > 1<<40>>shift {
		return fmt.Errorf("write a number of bytes from 1 to 1024Gi, such as 512Mi")
	}
	*s = ByteSize(n << shift)
	return nil
}

// Type implements pflag.Value.
func (s *ByteSize) Type() string { return "size" }
