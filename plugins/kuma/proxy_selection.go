package kuma

import (
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var dataplaneKind = model.GroupKind{Group: group, Kind: "Dataplane"}

// The roles of the nodes that the linker makes, beside topology.MeshRoot and topology.Proxy.
const (
	inboundRole topology.Role = "inbound"
	serviceRole topology.Role = "meshService"
	portRole    topology.Role = "meshServicePort"
	routeRole   topology.Role = "meshRoute"
)

// dataplane is a proxy as policies see it.
type dataplane struct {
	object   *model.Object
	labels   map[string]string
	mesh     string
	sections []section
	gateway  string // "", DELEGATED or BUILTIN
	tags     model.Body
}

// section is an inbound or an embedded listener.
type section struct {
	name    string // or, without one, the port
	port    string // as a number
	tags    model.Body
	inbound bool // an inbound, which has tags
}

// settingsOf is the part of an old-style object that holds its settings.
func settingsOf(o *model.Object) model.Body {
	if s := o.Body.At("spec"); s.IsObject() {
		return s
	}
	return o.Body
}

func readDataplane(o *model.Object, in *model.Snapshot, s model.Settings) dataplane {
	d := dataplane{object: o, labels: computeLabels(o, in, s)}
	d.mesh = d.labels[meshLabel]
	net := settingsOf(o).Field("networking")
	for _, field := range []string{"inbound", "listeners"} {
		for _, entry := range net.Field(field).Items {
			name := entry.Field("name").Text()
			if name == "" {
				name = numberText(entry.Field("port"))
			}
			d.sections = append(d.sections, section{name: name, port: numberText(entry.Field("port")),
				tags: entry.Field("tags"), inbound: field == "inbound"})
		}
	}
	if gw := net.Field("gateway"); gw.IsObject() {
		d.gateway, d.tags = "DELEGATED", gw.Field("tags")
		if kind := gw.Field("type").Text(); kind != "" {
			d.gateway = kind
		}
	}
	return d
}

// numberText is a JSON number as text.
func numberText(b model.Body) string {
	switch v := b.Value().(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatInt(int64(v), 10)
	case string:
		return v
	}
	return ""
}

// proxySelection is what a policy selects of one proxy.
type proxySelection struct {
	sections []int
	whole    bool // the proxy as such
	why      string
	unknown  bool // why it is not known whether it selects the proxy
}

// selectProxy is whether, and with which of its sections, a policy selects a proxy; if not, the
// first test that fails.
func (p *proxySelector) selectProxy(d *dataplane) proxySelection {
	no := func(format string, args ...any) proxySelection {
		return proxySelection{why: fmt.Sprintf(format, args...)}
	}
	switch {
	case p.mesh != d.mesh:
		return no("the policy is of mesh %s, the Dataplane of mesh %s", p.mesh, d.mesh)
	case p.isShadow:
		return no("it is a shadow policy")
	}
	if why := p.checkZone(d); why != "" {
		return proxySelection{why: why}
	}
	if role := p.policyRole(); role == consumerRole || role == workloadOwnerRole {
		if ns := p.labels[namespaceLabel]; ns == "" || ns != d.labels[namespaceLabel] {
			return no("a %s policy holds in its own namespace only", role)
		}
	}
	out := p.matchTargetRef(d)
	if out.why == "" && len(out.sections) == 0 && d.gateway == "" {
		return no("no inbound or listener is selected")
	}
	return out
}

// checkZone tests the zone: a policy of a zone is for the proxies of that zone, unless a producer
// made it.
func (p *proxySelector) checkZone(d *dataplane) string {
	if p.policyRole() == producerRole || d.labels[originLabel] == "" || d.labels[originLabel] == "global" {
		return ""
	}
	zone := p.labels[zoneLabel]
	if p.labels[originLabel] != "zone" || zone == "" {
		return ""
	}
	if own := d.labels[zoneLabel]; own != "" && own != zone {
		return "the policy is of zone " + zone + ", the Dataplane of zone " + own
	}
	return ""
}

// matchTargetRef tests the top-level target reference.
func (p *proxySelector) matchTargetRef(d *dataplane) proxySelection {
	types := p.ref.Field("proxyTypes")
	if types.Len() > 0 && !containsWord(types, map[bool]string{true: "Gateway", false: "Sidecar"}[d.gateway != ""]) {
		return proxySelection{why: "proxyTypes does not name this type of proxy"}
	}
	all := proxySelection{whole: true}
	for i := range d.sections {
		all.sections = append(all.sections, i)
	}
	switch p.kind {
	case "Mesh":
		return all
	case "Dataplane":
		return p.matchDataplane(d, all)
	case "MeshSubset":
		return d.matchTags(p.ref.Field("tags"), "")
	case "MeshService", "MeshServiceSubset":
		return d.matchTags(p.ref.Field("tags"), p.ref.Field("name").Text())
	}
	if p.kind == "MeshGateway" && p.gateways != nil {
		return p.matchGateway(d, all)
	}
	if p.kind == "MeshHTTPRoute" {
		for _, r := range p.routes {
			if out := r.selectProxy(d); out.why == "" {
				return out
			}
		}
		return proxySelection{why: "no such route selects it"}
	}
	return proxySelection{why: "a targetRef of kind " + p.kind + " is not evaluated"}
}

// matchDataplane tests a reference to Dataplanes by name (2.14), by labels, or to all.
func (p *proxySelector) matchDataplane(d *dataplane, all proxySelection) proxySelection {
	name, labels := p.ref.Field("name").Text(), p.ref.Field("labels")
	switch {
	case d.gateway == "BUILTIN":
		return proxySelection{why: "builtin gateways are no target of kind Dataplane"}
	case name != "" && p.isSameIdentity(d, name):
	case labels.IsObject() && hasLabels(d.labels, labels):
	case name == "" && !labels.IsObject():
	case labels.IsObject():
		return proxySelection{why: "it has other labels"}
	default:
		return proxySelection{why: "it has another name"}
	}
	want := p.ref.Field("sectionName").Text()
	if want == "" {
		return all
	}
	out := proxySelection{whole: true}
	for i, s := range d.sections {
		if s.name == want {
			out.sections = append(out.sections, i)
		}
	}
	if len(out.sections) == 0 && d.gateway == "" { // a gateway is selected as a whole
		return proxySelection{why: fmt.Sprintf("it has no inbound or listener %q", want)}
	}
	return out
}

// isSameIdentity compares the identity that a name means: with the policy's mesh, zone and
// namespace.
func (p *proxySelector) isSameIdentity(d *dataplane, name string) bool {
	ns := p.ref.Field("namespace").Text()
	if ns == "" {
		ns = p.labels[namespaceLabel]
	}
	zone := func(labels map[string]string) string {
		if labels[originLabel] == "global" {
			return ""
		}
		return labels[zoneLabel]
	}
	return displayName(d.labels, d.object) == name && d.labels[namespaceLabel] == ns && zone(p.labels) == zone(d.labels)
}

// matchTags are the sections that have the tags; of a gateway its own count.
func (d *dataplane) matchTags(tags model.Body, service string) proxySelection {
	out := proxySelection{whole: true}
	if d.gateway != "" {
		if hasTags(d.tags, tags, service) {
			return out
		}
		return proxySelection{why: "it has other tags"}
	}
	for i, s := range d.sections {
		if s.inbound && hasTags(s.tags, tags, service) {
			out.sections = append(out.sections, i)
		}
	}
	if len(out.sections) == 0 {
		return proxySelection{why: "no inbound has the tags"}
	}
	return out
}

func hasTags(have, want model.Body, service string) bool {
	if service != "" && have.Field("kuma.io/service").Text() != service {
		return false
	}
	for key, value := range want.Fields {
		if !have.Has(key) || value.Text() != "*" && have.Field(key).Text() != value.Text() {
			return false
		}
	}
	return true
}

func containsWord(list model.Body, word string) bool {
	for _, entry := range list.Items {
		if entry.Text() == word {
			return true
		}
	}
	return false
}

// proxySelector is the half of a policy that picks proxies.
type proxySelector struct {
	labels   map[string]string
	mesh     string
	isShadow bool
	kind     string
	ref      model.Body
	routes   []*proxySelector // that a reference to routes means (2.14)

	gateways []meshGateway // that a reference to one may mean (2.14); nil: such references are not evaluated
}

func newSelector(o *model.Object, labels map[string]string, s model.Settings) *proxySelector {
	p := &proxySelector{labels: labels, mesh: labels[meshLabel], ref: o.Body.At("spec", "targetRef")}
	p.isShadow = isShadowPolicy(labels) && !s.Bool("kuma.includeShadow")
	if p.kind = p.ref.Field("kind").Text(); p.kind == "" {
		p.kind = "Mesh"
	}
	return p
}

// policyRole is the policy's role; a policy without one is of the system.
func (p *proxySelector) policyRole() string {
	if role := p.labels[roleLabel]; role != "" {
		return role
	}
	return systemRole
}
