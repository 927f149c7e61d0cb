package behavior

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
)

// probe is a request that stands for a class, with words that say which.
type probe struct {
	request request.Request
	words   []string
}

// hostClass is a set of hosts that no name of either side tells apart, with one of them.
type hostClass struct{ host, words string }

// splitHosts tells hosts apart by the names of both sides. Below a wildcard, hosts with one label more
// and with several are told apart: not every proxy takes both.
func splitHosts(names []string) []hostClass {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	var out []hostClass
	add := func(host, words string) {
		if !known[host] {
			known[host] = true
			out = append(out, hostClass{host, words})
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		suffix, wildcard := strings.CutPrefix(name, "*")
		switch {
		case name == "":
		case wildcard:
			add("any"+suffix, "other hosts of "+name)
			add("any.other"+suffix, "hosts of "+name+" with more than one label")
		default:
			out = append(out, hostClass{name, "host " + name})
		}
	}
	add("any.example", "every other host")
	slices.SortStableFunc(out, func(a, b hostClass) int {
		return strings.Compare(hostRank(a), hostRank(b))
	})
	return out
}

// hostRank orders hosts that are named before all others.
func hostRank(h hostClass) string {
	if strings.HasPrefix(h.words, "host ") {
		return "0" + h.host
	}
	return "1" + h.host
}

// maxFieldClasses is how many sets of headers and parameters are compared for each path.
const maxFieldClasses = 256

// splitFields tells requests apart by their headers and query parameters. It is not ok if there are
// more classes than are followed.
func splitFields(tests []request.Test) (classes []probe, ok bool) {
	type name struct {
		of   request.Aspect
		name string
	}
	var order []name
	byName := map[name][]request.Test{}
	for _, t := range tests {
		n := name{t.Aspect, t.Name}
		if byName[n] == nil {
			order = append(order, n)
		}
		byName[n] = append(byName[n], t)
	}
	classes = []probe{{}}
	for _, n := range order {
		texts, ok := space.SplitTexts(n.of, n.name, byName[n])
		if !ok || len(classes)*len(texts) > maxFieldClasses {
			return nil, false
		}
		var next []probe
		for _, c := range classes {
			for _, text := range texts {
				next = append(next, c.withField(n.of, n.name, text))
			}
		}
		classes = next
	}
	return classes, true
}

// withField returns the probe with a header or a query parameter.
func (p probe) withField(of request.Aspect, name string, value space.TextClass) probe {
	p.words = append(slices.Clone(p.words), value.Words)
	field := request.Field{Name: name, Value: value.Text}
	switch {
	case value.Absent:
	case of == request.AspectHeader:
		p.request.Headers = append(slices.Clone(p.request.Headers), field)
	default:
		p.request.Query = append(slices.Clone(p.request.Query), field)
	}
	return p
}

// listMethods returns the methods that tests name, and GET.
func listMethods(tests ...ingress.Tests) []string {
	out := []string{"GET"}
	for i := range tests {
		out = append(out, tests[i].Methods...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// listAddresses returns an address in each set that address lists tell apart, one that none has first.
func listAddresses(prefixes []netip.Prefix) []netip.Addr {
	prefixes = slices.Clone(prefixes)
	slices.SortFunc(prefixes, func(a, b netip.Prefix) int { return a.Compare(b) })
	prefixes = slices.Compact(prefixes)
	// sets are bounded by where a prefix begins and where one ends
	candidates := []netip.Addr{netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("2001:db8::7"),
		netip.MustParseAddr("9.9.9.9")}
	for _, p := range prefixes {
		candidates = append(candidates, p.Masked().Addr(), protect.LastAddress(p.Masked()).Next())
	}
	seen := map[string]bool{}
	var out []netip.Addr
	for _, a := range candidates {
		if !a.IsValid() {
			continue
		}
		key := make([]byte, len(prefixes), len(prefixes)+1)
		for i, p := range prefixes {
			if p.Contains(a) {
				key[i] = 1
			}
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, a)
		}
	}
	return out
}

// listVariants returns further requests of the class of a path, for answers that are made of the path
// or the query.
func listVariants(r request.Request) []request.Request {
	var out []request.Request
	add := func(path, value string) {
		one := r
		one.Path, one.RawQuery = path, ""
		if value != "" {
			one.Query = append(slices.Clone(r.Query), request.Field{Name: "q", Value: value})
		}
		out = append(out, one)
	}
	stem := strings.TrimSuffix(r.Path, "/")
	add(r.Path, "1")
	add(stem+"/", "")
	add(stem+"/x/y1", "")
	add(stem+"/x/", "")
	add(stem+"/x", "1/")
	return out
}
