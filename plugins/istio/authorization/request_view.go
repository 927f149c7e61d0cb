package authorization

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// maxRequestViews is how many hosts and ports are told apart.
const maxRequestViews = 64

// requestViewsOf lists by which hosts and ports the rules at a place tell the requests of a class
// apart.
func requestViewsOf(in protect.Input, v *resolve.Verdict) []requestView {
	out, _ := in.Reader.Cached(v, func() any { return newRequestViews(in, v) }).([]requestView)
	return out
}

func newRequestViews(in protect.Input, v *resolve.Verdict) []requestView {
	hosts, ports := listNamedValues(v, "hosts"), listNamedValues(v, "ports", "destination.port")
	possible := []string{""}
	if len(hosts) > 0 {
		possible = addPorts(listPossibleHosts(in, hosts), in.Reader.Request)
	}
	numbers := []int32{in.Reader.Request.Port}
	if in.Listener() == topology.None {
		numbers = []int32{0}
		if len(ports) > 0 {
			numbers = listPossiblePorts(ports)
		}
	}
	if len(possible)*len(numbers) > maxRequestViews {
		return []requestView{{requests: in.Reader}}
	}
	var out []requestView
	for _, host := range possible {
		for _, port := range numbers {
			out = append(out, requestView{requests: in.Reader, host: host, port: port})
		}
	}
	return out
}

// addPorts returns hosts as the Host header has them: with the port that the request's has. In that
// of a class a client may write one or not, and routes do not look at it.
func addPorts(hosts []string, r *request.Request) []string {
	if r.HostText != "" {
		for i := range hosts {
			if r.HostPort != "" {
				hosts[i] += ":" + r.HostPort
			}
		}
		return hosts
	}
	out := slices.Clone(hosts)
	for _, host := range hosts {
		out = append(out, host+":"+strconv.Itoa(int(r.Port)))
	}
	return out
}

// listNamedValues lists the values of fields of operations, and of conditions of the same key.
func listNamedValues(v *resolve.Verdict, fields ...string) []string {
	var out []string
	add := func(list []string) {
		for _, text := range list {
			if text = strings.ToLower(text); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	for i := range v.Result.Rules {
		rule := merge.Unpack(v.Result.Rules[i].Value)
		to, _ := model.Get(rule, "to").([]any)
		for _, e := range to {
			for _, field := range fields {
				add(model.Texts(e, "operation", field))
				add(model.Texts(e, "operation", "not"+strings.ToUpper(field[:1])+field[1:]))
			}
		}
		when, _ := model.Get(rule, "when").([]any)
		for _, c := range when {
			if slices.Contains(fields, model.Text(c, "key")) {
				add(append(model.Texts(c, "values"), model.Texts(c, "notValues")...))
			}
		}
	}
	return out
}

// listPossiblePorts are the ports that are named, and another one.
func listPossiblePorts(named []string) []int32 {
	out := []int32{-1}
	for _, text := range named {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			out = append(out, int32(n))
		}
	}
	return out
}

// listPossibleHosts are the hosts of the class that patterns tell apart: one that a request has, or
// that the route or the listener names, is the only one; of a wildcard those that a pattern names,
// and another one.
func listPossibleHosts(in protect.Input, patterns []string) []string {
	have, names := in.Reader.Host(), listHostnames(in)
	if have != "" && (in.Reader.Request.HostText != "" || slices.Contains(names, have)) {
		return []string{have}
	}
	var out []string
	add := func(host string) {
		if !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	for _, name := range names {
		suffix, wild := strings.CutPrefix(name, "*")
		switch {
		case have != "" && !gatewayapi.CoversHostname(name, have):
		case name != "" && !wild:
			add(name)
		case have != "":
			add(have)
		default:
			add("any" + cmp.Or(suffix, ".example"))
		}
		for _, p := range patterns {
			if host := exampleHost(p); host != "" && (wild || name == "") && gatewayapi.CoversHostname(name, host) {
				add(host)
			}
		}
	}
	return out
}

// exampleHost is a host that fits a pattern; "" if every host does.
func exampleHost(pattern string) string {
	rest := strings.Trim(pattern, "*")
	if rest != "" && strings.HasPrefix(pattern, "*") {
		return "any" + rest
	}
	return rest
}

// listHostnames are those by which requests come to the place: "" is any.
func listHostnames(in protect.Input) []string {
	var out []string
	g := in.Resolution().Graph
	if in.Route() != topology.None && int(in.Route()) < g.Len() {
		for _, a := range g.Attachments(in.Route()) {
			if a.Listener != in.Listener() || a.State != topology.Accepted {
				continue
			}
			for _, h := range a.Hostnames {
				if name := strings.ToLower(h.Effective); !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	if out == nil {
		return []string{""}
	}
	return out
}
