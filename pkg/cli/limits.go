package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// limitFlags say how much a run may read. What is beyond is not read, and a problem or an error
// says so.
type limitFlags struct{ input, document byteSize }

func (f *limitFlags) addLimitFlags(fs *pflag.FlagSet) {
	d := load.DefaultLimits()
	f.input, f.document = byteSize(d.Total), byteSize(d.Document)
	fs.Var(&f.input, "max-input", "how much may be read in all, of files or of a cluster, unpacked")
	fs.Var(&f.document, "max-document", "how large one document of a file may be, and, four times that, one answer of a cluster")
}

func (f *limitFlags) loadLimits() load.Limits {
	return load.Limits{Total: int64(f.input), Document: int(f.document)}
}

// byteSize is a number of bytes, written as 512Mi or 1Gi.
type byteSize int64

var byteUnits = []struct {
	suffix string
	shift  int
}{{"Gi", 30}, {"Mi", 20}, {"Ki", 10}}

// String implements pflag.Value.
func (s *byteSize) String() string {
	for _, u := range byteUnits {
		if n := int64(*s); n > 0 && n%(1<<u.shift) == 0 {
			return strconv.FormatInt(n>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set implements pflag.Value.
func (s *byteSize) Set(text string) error {
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
	*s = byteSize(n << shift)
	return nil
}

// Type implements pflag.Value.
func (s *byteSize) Type() string { return "size" }
