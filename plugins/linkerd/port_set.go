package linkerd

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// portSet is a list of ports and ranges, as annotations have them.
type portSet []portRange

type portRange struct{ first, last int }

// parsePorts reads a list of ports and ascending ranges with commas; one mistake spoils all of it.
func parsePorts(text string) (portSet, error) {
	var out portSet
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		from, to, ranged := strings.Cut(part, "-")
		r := portRange{}
		var ok bool
		if r.first, ok = parsePort(from); !ok {
			return nil, errors.New(strconv.Quote(part) + " is no port")
		}
		r.last = r.first
		if ranged {
			if r.last, ok = parsePort(to); !ok || r.last < r.first {
				return nil, errors.New(strconv.Quote(part) + " is no ascending range of ports")
			}
		}
		out = append(out, r)
	}
	return out, nil
}

func parsePort(text string) (int, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
	return int(n), err == nil && n > 0
}

func (s portSet) containsPort(port int) bool {
	return slices.ContainsFunc(s, func(r portRange) bool { return r.first <= port && port <= r.last })
}

// maxListedPorts is how many ports of one annotation are shown though nobody declares them: longer
// lists are no list of what a workload serves.
const maxListedPorts = 64

// listPorts are the single ports of a short list.
func (s portSet) listPorts() []int {
	var out []int
	for _, r := range s {
		for p := r.first; p <= r.last && len(out) <= maxListedPorts; p++ {
			out = append(out, p)
		}
	}
	if len(out) > maxListedPorts {
		return nil
	}
	return out
}
