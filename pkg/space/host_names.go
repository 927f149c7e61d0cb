package space

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// hostNames splits hosts by hostnames: each exact one, what each wildcard adds, and all others,
// which are "".
type hostNames map[string]bool

func newHostNames(names ...[]string) hostNames {
	out := hostNames{"": true}
	for _, name := range slices.Concat(names...) {
		if name != "*" {
			out[strings.ToLower(name)] = true
		}
	}
	return out
}

// sortNames returns the names: exact ones, then wildcards, then "".
func (h hostNames) sortNames() []string {
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

// nameOf returns the name that a host belongs to.
func (h hostNames) nameOf(host string) string {
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

// exampleHost returns a host that belongs to a name.
func (h hostNames) exampleHost(name string) string {
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
		if h.nameOf(host) == name {
			return host
		}
	}
}

// isHostAsked reports whether the hosts of a name are among those that are asked about, whose names
// are names of the split as well.
func isHostAsked(name string, asked []string) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(a string) bool {
		a = strings.ToLower(a)
		return a == "*" || a == name || name != "" && isWildcard(a) &&
			(gatewayapi.CoversHostname(a, strings.TrimPrefix(name, "*.")) || isWildcard(name) &&
				strings.HasSuffix(name, a[1:]))
	})
}

// hostText says which hosts a name stands for.
func hostText(name string, all hostNames) string {
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
