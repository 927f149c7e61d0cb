package linkerd

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// probesDenied: the first route on a Server takes the built-in grant of probes away (IX http_routes).
var probesDenied = model.Rule{ID: "ProbesDenied", Severities: []model.Severity{model.Warning},
	Summary: "a Server has routes, which take away what lets HTTP probes in, and no route takes the probes of a port and grants them: the Pods never become ready, or are restarted",
	Fix:     "add a route on the Server for the paths of the probes, and an AuthorizationPolicy for it with a NetworkAuthentication of the networks that probes come from"}

// probe is an HTTP probe as the kubelet sends it.
type probe struct {
	path    string // without the query
	host    string // of the Host header; "": the address of the Pod
	headers []request.Field
	query   []request.Field
	secure  bool // by TLS, of which proxies see no request
}

// readProbe reads the httpGet of a probe, with the path and the query that it asks for.
func readProbe(get model.Body, at *url.URL) probe {
	out := probe{path: at.EscapedPath(), host: get.Text("host"), secure: strings.EqualFold(get.Text("scheme"), "HTTPS")}
	for _, h := range get.Field("httpHeaders").Items {
		if strings.EqualFold(h.Text("name"), "Host") {
			out.host = h.Text("value")
		}
		out.headers = append(out.headers, request.Field{Name: h.Text("name"), Value: h.Text("value")})
	}
	for _, pair := range strings.Split(at.RawQuery, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			out.query = append(out.query, request.Field{Name: unescapeQuery(name), Value: unescapeQuery(value)})
		}
	}
	return out
}

func unescapeQuery(text string) string {
	if out, err := url.QueryUnescape(text); err == nil {
		return out
	}
	return text
}

// findDeniedProbes reports the Servers with routes at which the probes of a port are denied.
func findDeniedProbes(r *resolve.Resolution) []model.Problem {
	if len(r.Snapshot.OfKind(serverKind)) == 0 {
		return nil
	}
	w := buildMeshIndex(r.Snapshot, r.Settings)
	if w.describeGaps() != "" || r.Snapshot.Cluster.HasUnread(httpRouteKind) {
		return nil
	}
	found := map[*server]*deniedProbes{}
	for _, load := range w.workloads {
		if load.meshed != selector.Yes {
			continue
		}
		skipped := load.annotatedPorts(skipInboundAnnotation)
		for _, port := range load.ports {
			v := w.findGovernor(load, port)
			if v == nil || len(v.activeRoutes()) == 0 || !v.countsRequests() || skipped.containsPort(port) {
				continue
			}
			paths := w.listDenied(v, load.probes[port])
			if paths == nil {
				continue
			}
			if found[v] != nil {
				found[v].more++
				continue
			}
			found[v] = &deniedProbes{load: load, port: port, paths: paths}
		}
	}
	var out []model.Problem
	for _, o := range r.Snapshot.OfKind(serverKind) {
		if d := found[w.byObject[o]]; d != nil {
			out = append(out, d.newProblem(o))
		}
	}
	return out
}

// deniedProbes are the probes of a port of a workload that are denied.
type deniedProbes struct {
	load  *workload
	port  int
	paths []string // with the answer to each
	more  int      // further ports of which probes are denied
}

func (d *deniedProbes) newProblem(at *model.Object) model.Problem {
	more := ""
	if d.more > 0 {
		more = fmt.Sprintf(" (and so of %d more)", d.more)
	}
	return probesDenied.NewProblem(
		"since it has routes, the probes of port %d of %s%s have no grant: %s", d.port, d.load.object.Ref, more,
		strings.Join(d.paths, ", ")).At(at)
}

// listDenied lists the paths of probes that are denied for certain, each with the answer.
func (w *meshIndex) listDenied(v *server, probes []probe) []string {
	j := connectionJudge{meshIndex: w}
	ofServer, _, _ := j.listServerGrants(v)
	granted := func(list []namedGrant) bool {
		return slices.ContainsFunc(list, func(c namedGrant) bool { return w.mayGrantProbes(c.grant) })
	}
	var out []string
	for _, p := range probes {
		if p.secure {
			continue
		}
		takers, _ := w.findTakers(v, &sentRequest{method: "GET", host: p.host, path: p.path, headers: p.headers,
			query: p.query})
		answer := ""
		denied := !slices.ContainsFunc(takers, func(route *model.Object) bool {
			if route == nil {
				answer = "404, as no route takes it"
				return false
			}
			answer = "403, as " + route.Ref.String() + " takes it"
			return granted(ofServer) || granted(j.listRouteGrants(route))
		})
		if text := p.path + " (" + answer + ")"; denied && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// mayGrantProbes reports whether a grant may let probes in: it asks for no identity, and is for some of
// the networks that probes come from.
func (w *meshIndex) mayGrantProbes(g grant) bool {
	if g.identities != nil || g.anyTLS {
		return false
	}
	return slices.ContainsFunc(g.networks, func(n network) bool {
		of, ok := parsePrefix(n.cidr)
		return ok && slices.ContainsFunc(w.settings.probes, func(text string) bool {
			from, ok := parsePrefix(text)
			return ok && of.Overlaps(from)
		})
	})
}
