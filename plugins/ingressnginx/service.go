package ingressnginx

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

var endpointSliceKind = model.GroupKind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}

// serviceFacts is what the input tells about a Service.
type serviceFacts struct {
	ref     model.Ref
	object  *model.Object // nil: it is not in the input
	missing bool          // it does not exist
}

// groupEndpointSlices returns the EndpointSlices by namespace/name of the Service that they are for.
func groupEndpointSlices(in *model.Snapshot) map[string][]*model.Object {
	out := map[string][]*model.Object{}
	for _, o := range in.OfKind(endpointSliceKind) {
		if name := o.Labels["kubernetes.io/service-name"]; name != "" {
			key := o.Ref.Namespace + "/" + name
			out[key] = append(out[key], o)
		}
	}
	return out
}

func (c *controller) findService(namespace, name string) *serviceFacts {
	key := namespace + "/" + name
	if f := c.services[key]; f != nil {
		return f
	}
	f := &serviceFacts{ref: model.Ref{Kind: "Service", Namespace: namespace, Name: name}}
	if f.object = c.in.Get(f.ref); f.object == nil {
		f.missing = c.in.FindExistence(f.ref).Presence == model.Missing
	}
	c.services[key] = f
	return f
}

// endpointGroup is a port of a Service with its endpoints.
type endpointGroup struct {
	ref    model.Ref // the Service; its section is the name of the port, if it has one
	port   int32
	ready  bool
	why    string // why it is not ready
	assume string // what is taken for granted because the input does not tell
}

// findEndpoints finds the endpoints that a backend names: by number, name or target of a port (N37).
func (c *controller) findEndpoints(s *serviceRef) endpointGroup {
	f := c.findService(s.namespace, s.name)
	g := endpointGroup{ref: f.ref, port: s.number}
	switch {
	case f.missing:
		g.why = "the Service " + f.ref.FullName() + " does not exist"
		return g
	case f.object == nil:
		g.ready = true
		g.assume = "the Service " + f.ref.FullName() + " is not in the input: it is taken to be there and ready"
		return g
	}
	if f.object.Text("spec", "type") == "ExternalName" {
		g.ready = !c.isFlag("disable-svc-external-name", false)
		g.why = "the controller runs with --disable-svc-external-name"
		g.readExternalPort(f.object, s)
		return g
	}
	for _, p := range f.object.Body.At("spec", "ports").Items {
		if !isPortNamed(p, s.port) {
			continue
		}
		g.setPort(p)
		g.ready = c.isReady(f, p)
		g.why = "the Service " + f.ref.FullName() + " has no endpoint that is ready"
		return g
	}
	g.why = fmt.Sprintf("the Service %s has no port %s", f.ref.FullName(), s.port)
	return g
}

// findFirstPort finds the endpoints of the first port of a Service.
func (c *controller) findFirstPort(s *serviceRef) endpointGroup {
	f := c.findService(s.namespace, s.name)
	if f.object == nil {
		return c.findEndpoints(s)
	}
	for _, p := range f.object.Body.At("spec", "ports").Items {
		g := endpointGroup{ref: f.ref, ready: c.isReady(f, p), why: "the Service " + f.ref.FullName() +
			" has no endpoint that is ready"}
		g.setPort(p)
		return g
	}
	return endpointGroup{ref: f.ref, why: "the Service " + f.ref.FullName() + " has no port"}
}

func (g *endpointGroup) setPort(p model.Body) {
	if n, ok := p.Get("port").(int64); ok {
		g.port = int32(n)
	}
	g.ref = g.ref.WithSection(p.Text("name"))
}

// readExternalPort finds the port of a Service of another name; it need not have one.
func (g *endpointGroup) readExternalPort(o *model.Object, s *serviceRef) {
	for _, p := range o.Body.At("spec", "ports").Items {
		if p.Text("name") == s.port || formatPort(p.Get("port")) == s.port {
			g.setPort(p)
			return
		}
	}
}

// isPortNamed reports whether a backend names a port of a Service.
func isPortNamed(p model.Body, name string) bool {
	target := p.Get("targetPort")
	if target == nil {
		target = p.Get("port")
	}
	return formatPort(p.Get("port")) == name || formatPort(target) == name || p.Text("name") == name
}

func formatPort(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return v
	}
	return ""
}

// isReady reports whether a port of a Service has an endpoint. Without EndpointSlices in the input it is taken
// to have one.
func (c *controller) isReady(f *serviceFacts, port model.Body) bool {
	slices := c.slices[f.ref.FullName()]
	if len(slices) == 0 {
		return true
	}
	for _, s := range slices {
		if hasPort(s, port) && hasReadyEndpoint(s) {
			return true
		}
	}
	return false
}

// hasPort reports whether an EndpointSlice has a port of its Service.
func hasPort(slice *model.Object, port model.Body) bool {
	_, named := port.Get("targetPort").(string)
	ports := slice.Body.Field("ports")
	if ports.Len() == 0 {
		return !named
	}
	for _, p := range ports.Items {
		if protocol := p.Text("protocol"); protocol != "" && protocol != "TCP" {
			continue
		}
		if name := port.Text("name"); name == "" || name == p.Text("name") || !named {
			return true
		}
	}
	return false
}

func hasReadyEndpoint(slice *model.Object) bool {
	for _, e := range slice.Body.Field("endpoints").Items {
		if ready, said := e.Get("conditions", "ready").(bool); (!said || ready) && e.Field("addresses").Len() > 0 {
			return true
		}
	}
	return false
}

// isUnreachable reports whether a name is that of a Service of the cluster which does not exist, or has no
// endpoint that is ready.
func (c *controller) isUnreachable(host string) bool {
	parts := strings.Split(host, ".")
	if len(parts) < 3 || parts[2] != "svc" {
		return false
	}
	f := c.findService(parts[1], parts[0])
	if f.object == nil {
		return f.missing
	}
	for _, port := range f.object.Body.At("spec", "ports").Items {
		if c.isReady(f, port) {
			return false
		}
	}
	return f.object.Text("spec", "type") != "ExternalName"
}
