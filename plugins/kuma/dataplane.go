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
	name  string // or, without one, the port
	tags  model.Body
	plain bool // an inbound, which has tags
}

// spec is the part of an old-style object that holds its settings.
func spec(o *model.Object) model.Body {
	if s := o.Body.At("spec"); s.IsObject() {
		return s
	}
	return o.Body
}

func readDataplane(o *model.Object, in *model.Snapshot, s model.Settings) dataplane {
	d := dataplane{object: o, labels: labelsOf(o, in, s)}
	d.mesh = d.labels[meshLabel]
	net := spec(o).Field("networking")
	for _, field := range []string{"inbound", "listeners"} {
		for _, entry := range net.Field(field).Items {
			name := entry.Field("name").Text()
			if name == "" {
				name = number(entry.Field("port"))
			}
			d.sections = append(d.sections, section{name: name, tags: entry.Field("tags"), plain: field == "inbound"})
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

// number is a JSON number as text.
func number(b model.Body) string {
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

// selection is what a policy selects of one proxy.
type selection struct {
	sections []int
	whole    bool // the proxy as such
	why      string
	unknown  bool // why it is not known whether it selects the proxy
}

// selects is whether, and with which of its sections, a policy selects a proxy (spec §3); if not, the first test that fails.
func (p *selector) selects(d *dataplane) selection {
	no := func(format string, args ...any) selection { return selection{why: fmt.Sprintf(format, args...)} }
	switch {
	case p.mesh != d.mesh:
		return no("the policy is of mesh %s, the Dataplane of mesh %s", p.mesh, d.mesh)
	case p.hidden:
		return no("it is a shadow policy")
	}
	if why := p.otherZone(d); why != "" {
		return selection{why: why}
	}
	if role := p.role(); role == consumerRole || role == workloadOwnerRole {
		if ns := p.labels[namespaceLabel]; ns == "" || ns != d.labels[namespaceLabel] {
			return no("a %s policy holds in its own namespace only", role)
		}
	}
	out := p.fits(d)
	if out.why == "" && len(out.sections) == 0 && d.gateway == "" {
		return no("no inbound or listener is selected")
	}
	return out
}

// otherZone tests the zone: a policy of a zone is for the proxies of that zone, unless a producer made it.
func (p *selector) otherZone(d *dataplane) string {
	if p.role() == producerRole || d.labels[originLabel] == "" || d.labels[originLabel] == "global" {
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

// fits tests the top-level target reference.
func (p *selector) fits(d *dataplane) selection {
	types := p.ref.Field("proxyTypes")
	if types.Len() > 0 && !listed(types, map[bool]string{true: "Gateway", false: "Sidecar"}[d.gateway != ""]) {
		return selection{why: "proxyTypes does not name this type of proxy"}
	}
	all := selection{whole: true}
	for i := range d.sections {
		all.sections = append(all.sections, i)
	}
	switch p.kind {
	case "Mesh":
		return all
	case "Dataplane":
		return p.named(d, all)
	case "MeshSubset":
		return d.tagged(p.ref.Field("tags"), "")
	case "MeshService", "MeshServiceSubset":
		return d.tagged(p.ref.Field("tags"), p.ref.Field("name").Text())
	}
	if p.kind == "MeshGateway" && p.gateways != nil {
		return p.behind(d, all)
	}
	if p.kind == "MeshHTTPRoute" {
		for _, r := range p.routes {
			if out := r.selects(d); out.why == "" {
				return out
			}
		}
		return selection{why: "no such route selects it"}
	}
	return selection{why: "a targetRef of kind " + p.kind + " is not evaluated"}
}

// named tests a reference to Dataplanes by name (2.14), by labels, or to all.
func (p *selector) named(d *dataplane, all selection) selection {
	name, labels := p.ref.Field("name").Text(), p.ref.Field("labels")
	switch {
	case d.gateway == "BUILTIN":
		return selection{why: "builtin gateways are no target of kind Dataplane"}
	case name != "" && p.identifies(d, name):
	case labels.IsObject() && has(d.labels, labels):
	case name == "" && !labels.IsObject():
	case labels.IsObject():
		return selection{why: "it has other labels"}
	default:
		return selection{why: "it has another name"}
	}
	want := p.ref.Field("sectionName").Text()
	if want == "" {
		return all
	}
	out := selection{whole: true}
	for i, s := range d.sections {
		if s.name == want {
			out.sections = append(out.sections, i)
		}
	}
	if len(out.sections) == 0 && d.gateway == "" { // a gateway is selected as a whole
		return selection{why: fmt.Sprintf("it has no inbound or listener %q", want)}
	}
	return out
}

// identifies compares the identity that a name means: with the policy's mesh, zone and namespace.
func (p *selector) identifies(d *dataplane, name string) bool {
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
	return nameOf(d.labels, d.object) == name && d.labels[namespaceLabel] == ns && zone(p.labels) == zone(d.labels)
}

// tagged are the sections that have the tags; of a gateway its own count.
func (d *dataplane) tagged(tags model.Body, service string) selection {
	out := selection{whole: true}
	if d.gateway != "" {
		if hasTags(d.tags, tags, service) {
			return out
		}
		return selection{why: "it has other tags"}
	}
	for i, s := range d.sections {
		if s.plain && hasTags(s.tags, tags, service) {
			out.sections = append(out.sections, i)
		}
	}
	if len(out.sections) == 0 {
		return selection{why: "no inbound has the tags"}
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

func listed(list model.Body, word string) bool {
	for _, entry := range list.Items {
		if entry.Text() == word {
			return true
		}
	}
	return false
}

// selector is the half of a policy that picks proxies.
type selector struct {
	labels map[string]string
	mesh   string
	hidden bool
	kind   string
	ref    model.Body
	routes []*selector // that a reference to routes means (2.14)

	gateways []gateway // that a reference to one may mean (2.14); nil: such references are not evaluated
}

func newSelector(o *model.Object, labels map[string]string, s model.Settings) *selector {
	p := &selector{labels: labels, mesh: labels[meshLabel], ref: o.Body.At("spec", "targetRef")}
	p.hidden = shadow(labels) && !s.Bool("kuma.includeShadow")
	if p.kind = p.ref.Field("kind").Text(); p.kind == "" {
		p.kind = "Mesh"
	}
	return p
}

// role is the policy's role; one without is of the system.
func (p *selector) role() string {
	if role := p.labels[roleLabel]; role != "" {
		return role
	}
	return systemRole
}
