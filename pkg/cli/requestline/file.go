package requestline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
)

// LocateError says in which line of a file a request is wrong.
func LocateError(place string, err error) error {
	var use *failure.UsageError
	if place != "" && errors.As(err, &use) {
		return failure.Usage(use.Hint, "%s: %s", place, use.What)
	}
	return err
}

// maxRequests is how many requests a file may have.
const maxRequests = 100_000

// ReadFile reads one request a line.
func ReadFile(file string, in io.Reader) ([]Request, error) {
	if file != "-" {
		f, err := input.Open(file)
		if err != nil {
			return nil, failure.NoAnswer(fmt.Sprintf("reading requests: %s", err),
				"give a file with one request per line")
		}
		defer f.Close()
		in = f
	}
	var out []Request
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		place := fmt.Sprintf("%s:%d", file, n)
		if len(out) == maxRequests {
			return nil, failure.NoAnswer(fmt.Sprintf("reading requests: %s: more than %d requests", place, maxRequests),
				"split the file")
		}
		one, err := Parse(line)
		if err != nil {
			return nil, LocateError(place, err)
		}
		one.Origin = place
		out = append(out, one)
	}
	if err := lines.Err(); err != nil {
		return nil, failure.NoAnswer(fmt.Sprintf("reading requests from %s: %s", file, input.ReadFailure(err)),
			"write one request per line")
	}
	if len(out) == 0 {
		return nil, failure.Usage("write one request per line, for example: GET https://shop.example.com/cart",
			"%s contains no requests", file)
	}
	return out, nil
}
