package point

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mostAlternatives bounds the ways of one request that are walked.
const mostAlternatives = 64

// Walker walks the requests of one input. It may be used by several goroutines.
type Walker struct {
	mu      sync.Mutex // held while a request is walked: layers keep what they find out
	res     *resolve.Resolution
	layers  []*Layer
	vendors Vendors
	proxies map[*model.Object][]End
	ways    map[string][]alternative // to backends, of points that say the same to every request
}

// NewWalker makes the walker of an input.
func NewWalker(r *resolve.Resolution, v Vendors) *Walker {
	w := &Walker{res: r, vendors: v, proxies: map[*model.Object][]End{},
		ways: map[string][]alternative{}}
	for _, newLayer := range v.Layers {
		if layer := newLayer(r); layer != nil {
			w.layers = append(w.layers, layer)
		}
	}
	return w
}

// HasLayers reports whether anything in the input may have a say behind the first proxy.
func (w *Walker) HasLayers() bool {
	return len(w.layers) > 0 || len(unread.ConnectionPolicies(w.res)) > 0
}

// alternative is one of several ways of a request.
type alternative struct {
	points  []Point
	backend model.Ref
	share   string
	alike   int // further Pods for which all is the same
}

// WalkRequest walks a request to the workloads behind each backend. edge is the judgement of the
// Gateway that takes it, nil for a request in the mesh; clients are what sends it, as alternatives,
// of a request through a Gateway none where it is not asked about.
func (w *Walker) WalkRequest(a *request.Answer, edge *Point, clients []End) Path {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(a.Backends) == 0 || a.Outcome == request.Redirect || a.Assumed == request.Redirect {
		return Path{}
	}
	var before []Point
	sources := clients
	if edge != nil {
		sources = w.findProxies(edge.Object)
		before = append(w.walkToGateway(a, clients, sources), *edge)
	}
	return w.join(before, w.walkToBackends(a, sources))
}

// walkToBackends walks to the workloads behind all backends; once for all requests, if the points on
// the way tell none apart.
func (w *Walker) walkToBackends(a *request.Answer, sources []End) []alternative {
	if !w.HasLayers() {
		return []alternative{{}}
	}
	key := fmt.Sprint(a.Gateway, a.Service, a.Request.From, a.Request.Client, a.Request.Protocol, a.Backends)
	if known, ok := w.ways[key]; ok {
		return known
	}
	var ways []alternative
	for _, b := range a.Backends {
		ways = append(ways, w.walkToBackend(a, b, sources)...)
	}
	if !slices.ContainsFunc(ways, func(way alternative) bool {
		return slices.ContainsFunc(way.points, func(p Point) bool { return !p.IgnoresRequests && p.Verdict != Bypassed })
	}) {
		w.ways[key] = ways
	}
	return ways
}

// walkToGateway judges the network between a client and the proxies of a Gateway. Which port these
// listen on is not known.
func (w *Walker) walkToGateway(a *request.Answer, clients, proxies []End) []Point {
	var all [][]Point
	for _, from := range clients {
		for _, to := range proxies {
			h := &Hop{From: from, To: to, Protocol: "TCP", ToProxy: true, Request: a}
			all = append(all, w.judge(h))
		}
	}
	return mergeAlternatives(all)
}

// walkToBackend walks to the workloads behind one backend.
func (w *Walker) walkToBackend(a *request.Answer, b topology.BackendRef, sources []End) []alternative {
	service := w.res.Snapshot.Get(b.Ref.WithoutSection())
	protocol := "TCP"
	if a.Request.Protocol == request.UDP {
		protocol = "UDP"
	}
	if service == nil {
		return []alternative{{backend: b.Ref}}
	}
	port := findPort(service, b.Ref.Section, protocol == "UDP")
	total := 0
	for _, other := range a.Backends {
		total += other.Weight
	}
	share := ""
	if len(a.Backends) > 1 {
		share = fmt.Sprintf("%d/%d", b.Weight, total)
	}
	destinations := findDestinations(w.res, service, port)
	if len(destinations) == 0 { // what is behind it is no Pod
		h := Hop{To: End{Node: topology.None, Stands: service.Ref}, Service: service, ToService: true,
			Protocol: protocol, Request: a}
		return []alternative{{backend: b.Ref, share: share, points: w.walkHop(h, sources)}}
	}
	var out []alternative
	for i := range destinations {
		to := &destinations[i]
		h := Hop{To: to.End, Service: service, Protocol: protocol, Port: to.port, Request: a}
		out = append(out, alternative{backend: b.Ref, share: share, points: w.walkHop(h, sources), alike: to.alike})
	}
	return out
}

// WalkConnection walks a connection between two ends.
func (w *Walker) WalkConnection(from, to End, protocol string, port int) Path {
	w.mu.Lock()
	defer w.mu.Unlock()
	points := w.walkHop(Hop{To: to, Protocol: protocol, Port: port}, []End{from})
	return w.join(nil, []alternative{{points: points}})
}

// walkHop walks a hop from each of several sources of which one sends.
func (w *Walker) walkHop(h Hop, sources []End) []Point {
	var all [][]Point
	for _, from := range sources {
		h.From = from
		h.ToService = h.Service != nil && (from.Gateway == nil || from.DialsService != nil && from.DialsService(h.Service))
		all = append(all, w.cross(h)...)
		if len(all) > mostAlternatives {
			break
		}
	}
	return mergeAlternatives(all)
}

// cross walks a hop, by each of the ways that lead around or through the proxies in between.
func (w *Walker) cross(h Hop) [][]Point {
	ways := [][]Detour{nil}
	for _, layer := range w.layers {
		if layer.FindDetours == nil {
			continue
		}
		if found := layer.FindDetours(&h); len(found) > 0 {
			ways = found
			break
		}
	}
	var out [][]Point
	for _, way := range ways {
		var points, bypassed []Point
		last := h
		for _, d := range way {
			if d.Point.Verdict == Bypassed || d.Proxy.Gateway == nil {
				bypassed = append(bypassed, d.Point)
				continue
			}
			first := last
			first.To, first.Port, first.ToProxy = d.Proxy, d.Port, true
			points = append(append(points, w.judge(&first)...), d.Point)
			last.From, last.ToService = d.Proxy, false
		}
		rest := append(bypassed, w.judge(&last)...)
		slices.SortStableFunc(rest, func(a, b Point) int { return a.Name.rank() - b.Name.rank() })
		points = append(points, rest...)
		out = append(out, points)
	}
	return out
}

// judge has all layers judge the points at the ends of a hop.
func (w *Walker) judge(h *Hop) []Point {
	h.WirePort = h.Port
	for _, layer := range w.layers {
		if layer.FindWirePort != nil {
			if port := layer.FindWirePort(h); port != 0 {
				h.WirePort = port
			}
		}
	}
	var out []Point
	for _, layer := range w.layers {
		if layer.Judge != nil {
			out = append(out, layer.Judge(h)...)
		}
	}
	out = append(out, w.judgeUnread(h)...)
	slices.SortStableFunc(out, func(a, b Point) int { return a.Name.rank() - b.Name.rank() })
	return out
}

// join puts the ways of a request one after the other, and their verdicts together: what all of
// them say, else it depends.
func (w *Walker) join(before []Point, ways []alternative) Path {
	out := Path{Points: slices.Clone(before)}
	ways = foldAlike(ways)
	for i, way := range ways {
		out.Ways = append(out.Ways, way.points)
		verdict := combineVerdicts(append(slices.Clone(before), way.points...))
		switch {
		case i == 0:
			out.Verdict = verdict
		case verdict != out.Verdict:
			out.Verdict = Depends
		}
		for _, p := range way.points {
			p.Way = i + 1
			if len(ways) > 1 {
				p.Backend = way.backend
				if way.share != "" {
					p.Because += " (" + way.share + " of the requests)"
				}
			}
			out.Points = append(out.Points, p)
		}
		if last := len(out.Points) - 1; way.alike > 0 && len(way.points) > 0 {
			out.Points[last].Because = strings.TrimPrefix(fmt.Sprintf("%s; and so for %d more", out.Points[last].Because,
				way.alike), "; ")
		}
	}
	return out
}

// describe writes what an answer says of a way, without the names of the Pods.
func (a *alternative) describe() string {
	out := a.backend.String()
	for i := range a.points {
		p := &a.points[i]
		object := p.Object
		if p.Name != Waypoint {
			object.Name = ""
		}
		out += fmt.Sprint("\x00", p.Name, p.Kind, object, p.Verdict, p.Because, p.Port, p.Policies)
	}
	return out
}

// foldAlike puts alternatives together of which all points say the same, whichever Pod it is.
func foldAlike(ways []alternative) []alternative {
	var out []alternative
	known := map[string]int{}
	for _, way := range ways {
		key := way.describe()
		if at, ok := known[key]; ok {
			out[at].alike += way.alike + 1
			continue
		}
		known[key] = len(out)
		out = append(out, way)
	}
	return out
}

// isLike reports whether two points are the same place for another alternative.
func (p *Point) isLike(o *Point) bool {
	return p.Name == o.Name && p.Kind == o.Kind && p.Object == o.Object
}

// mergeAlternatives puts the points of several ways together of which one is taken, and it is not
// known which: where they agree it does not matter.
func mergeAlternatives(all [][]Point) []Point {
	if len(all) == 0 {
		return nil
	}
	var out []Point
	seen := make([]int, 0, len(all[0]))
	for _, points := range all {
		for i := range points {
			p := &points[i]
			at := slices.IndexFunc(out, func(o Point) bool { return o.isLike(p) })
			if at < 0 {
				out, seen = append(out, *p), append(seen, 1)
				continue
			}
			out[at].mergeWith(p)
			seen[at]++
		}
	}
	for i := range out {
		if seen[i] == len(all) {
			continue
		}
		out[i].MayBypass = true
		if out[i].Verdict == Denied {
			out[i].Verdict = Depends
			out[i].Because = "cannot tell whether the request comes by here: " + out[i].Because
		}
	}
	return out
}

// mergeWith takes the judgement of the same point on another way.
func (p *Point) mergeWith(o *Point) {
	for _, ref := range o.Policies {
		if !slices.Contains(p.Policies, ref) {
			p.Policies = append(slices.Clip(p.Policies), ref)
		}
	}
	if p.Identity != nil && (o.Identity == nil || *o.Identity != *p.Identity) {
		p.Identity = nil
	}
	if p.Port != o.Port {
		p.Port = 0
	}
	p.IgnoresRequests = p.IgnoresRequests && o.IgnoresRequests
	p.MayBypass = p.MayBypass || o.MayBypass || (p.Verdict == Bypassed) != (o.Verdict == Bypassed)
	p.Tests = append(slices.Clip(p.Tests), o.Tests...)
	if p.Verdict == o.Verdict {
		if p.Verdict != Denied && p.Because == "" {
			p.Because = o.Because
		}
		return
	}
	if min(p.Verdict, o.Verdict) == Allowed && max(p.Verdict, o.Verdict) == Bypassed { // it goes on in any case
		if o.Verdict == Allowed {
			p.Verdict, p.Because, o = Allowed, o.Because, &Point{Because: p.Because}
		}
		p.Because = strings.TrimPrefix(p.Because+"; or the request does not come by: "+o.Because, "; ")
		return
	}
	if p.Verdict != Depends {
		p.Because = fmt.Sprintf("%s: %s; or %s: %s", p.Verdict, p.Because, o.Verdict, o.Because)
	} else if !strings.Contains(p.Because, o.Because) {
		p.Because += "; or " + o.Because
	}
	p.Verdict, p.Decision = Depends, nil
}

// findProxies lists what the proxies of a Gateway are, as alternatives. Of an implementation of which
// that is not known it is one end of which nothing is.
func (w *Walker) findProxies(gateway model.Ref) []End {
	o := w.res.Snapshot.Get(gateway)
	if o == nil {
		return []End{{Node: topology.None, Stands: gateway, PodsUnknown: true}}
	}
	if known, ok := w.proxies[o]; ok {
		return known
	}
	class := w.res.Snapshot.Get(model.Ref{Group: gateway.Group, Kind: "GatewayClass",
		Name: o.Text("spec", "gatewayClassName")})
	controller := ""
	if class != nil {
		controller = class.Text("spec", "controllerName")
	}
	out := NewProxies(w.res, o)
	for _, find := range w.vendors.Proxies {
		if found, ok := find(w.res, o, controller); ok {
			out = found
			break
		}
	}
	w.proxies[o] = out
	return out
}
