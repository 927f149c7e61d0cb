package space

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// hosts splits hosts by hostnames: each exact one, what each wildcard adds, and all others, which are "".
type hosts map[string]bool

func newHosts(names ...[]string) hosts {
	out := hosts{"": true}
	for _, name := range slices.Concat(names...) {
		if name != "*" {
			out[strings.ToLower(name)] = true
		}
	}
	return out
}

// sorted are the names: exact ones, then wildcards, then "".
func (h hosts) sorted() []string {
	out := make([]string, 0, len(h))
	for name := range h {
		out = append(out, name)
	}
	sort := func(name string) int {
		switch {
		case name == "":
			return 2
		case isWildcard(name):
			return 1
		}
		return 0
	}
	slices.SortFunc(out, func(a, b string) int {
		if order := sort(a) - sort(b); order != 0 {
			return order
		}
		return strings.Compare(a, b)
	})
	return out
}

func isWildcard(name string) bool { return strings.HasPrefix(name, "*.") }

// of is the name whose hosts a host is one of.
func (h hosts) of(host string) string {
	if h[host] && !isWildcard(host) {
		return host
	}
	for at := strings.IndexByte(host, '.'); at >= 0; {
		if h["*"+host[at:]] {
			return "*" + host[at:]
		}
		next := strings.IndexByte(host[at+1:], '.')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return ""
}

// one is a host of those of a name.
func (h hosts) one(name string) string {
	if name != "" && !isWildcard(name) {
		return name
	}
	for i := 0; ; i++ {
		host := "any." + strings.TrimPrefix(name, "*.")
		switch {
		case name == "" && i == 0:
			host = "any.example"
		case name == "":
			host = fmt.Sprintf("any.example%d", i)
		case i > 0:
			host = fmt.Sprintf("any%d%s", i, strings.TrimPrefix(name, "*"))
		}
		if h.of(host) == name {
			return host
		}
	}
}

// within reports whether the hosts of a name are among those that are asked about, whose names are names of h as well.
func within(name string, asked []string) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(a string) bool {
		a = strings.ToLower(a)
		return a == "*" || a == name || name != "" && isWildcard(a) && (topology.Covers(a, strings.TrimPrefix(name, "*.")) || isWildcard(name) && strings.HasSuffix(name, a[1:]))
	})
}

// hostText says which hosts a name stands for.
func hostText(name string, all hosts) string {
	switch {
	case name == "" && len(all) == 1:
		return "every host"
	case name == "":
		return "every other host"
	case isWildcard(name):
		return "other hosts of " + name
	}
	return "host " + name
}
