package linkerd

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The annotations of Pods and Namespaces that are read.
const (
	injectNote          = "linkerd.io/inject"
	defaultPolicyNote   = "config.linkerd.io/default-inbound-policy"
	opaquePortsNote     = "config.linkerd.io/opaque-ports"
	requireIdentityNote = "config.linkerd.io/proxy-require-identity-inbound-ports"
)

// workload is a Pod, what stands for Pods, or a machine outside of the cluster.
type workload struct {
	object   *model.Object
	external bool
	labels   map[string]string
	notes    map[string]string // annotations
	space    *model.Object     // its Namespace; nil: not in the input
	meshed   topology.Truth
	why      string // it is meshed or not, or why that is not known
	proxied  bool   // the proxy is in the Pod already, and with it what the Namespace said then
	declared []containerPort
	probed   map[int][]string // the paths of HTTP probes by port, sorted
	ports    []int            // that Servers can govern, sorted
	account  string           // its ServiceAccount
	identity string           // of an ExternalWorkload
	address  []string
}

type containerPort struct {
	name   string
	number int
}

// readWorkloads reads the workloads of an input, in order.
func readWorkloads(in *model.Snapshot) []*workload {
	var out []*workload
	for _, o := range topology.WorkloadsOf(in) {
		out = append(out, readPod(in, o))
	}
	for _, o := range in.Of(externalWorkloadKind) {
		out = append(out, readExternal(in, o))
	}
	return out
}

func readExternal(in *model.Snapshot, o *model.Object) *workload {
	w := &workload{object: o, external: true, labels: o.Labels, notes: o.Annotations, space: in.Get(model.Ref{Kind: "Namespace", Name: o.Ref.Namespace}),
		meshed: topology.Yes, why: "an ExternalWorkload is in the mesh", identity: o.Text("spec", "meshTLS", "identity")}
	for _, p := range o.Body.At("spec", "ports").Items {
		w.declare(p.Text("name"), p.Text("protocol"), p.Field("port"))
	}
	for _, ip := range o.Body.At("spec", "workloadIPs").Items {
		w.address = append(w.address, ip.Text("ip"))
	}
	return w
}

func readPod(in *model.Snapshot, o *model.Object) *workload {
	w := &workload{object: o, space: in.Get(model.Ref{Kind: "Namespace", Name: o.Ref.Namespace}), probed: map[int][]string{}}
	w.labels, w.notes = topology.PodMetadata(o)
	spec := topology.PodSpec(o)
	w.account = cmp.Or(spec.Text("serviceAccountName"), spec.Text("serviceAccount"), "default")
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Field(list).Items {
			w.proxied = w.proxied || c.Text("name") == "linkerd-proxy"
			for _, p := range c.Field("ports").Items {
				w.declare(p.Text("name"), p.Text("protocol"), p.Field("containerPort"))
			}
			w.probes(c)
		}
	}
	for port, paths := range w.probed {
		slices.Sort(paths)
		w.probed[port] = slices.Compact(paths)
	}
	if o.Ref.GroupKind() == podKind {
		w.address = addresses(o.Body.Field("status"))
	}
	w.join()
	return w
}

// declare notes a port of TCP.
func (w *workload) declare(name, protocol string, number model.Body) {
	n, _ := number.Value().(int64)
	if (protocol == "" || strings.EqualFold(protocol, "TCP")) && n > 0 && n <= 65535 {
		w.declared = append(w.declared, containerPort{name, int(n)})
	}
}

// join finds out whether the workload is in the mesh.
func (w *workload) join() {
	word, own := w.notes[injectNote]
	whose := "annotation " + injectNote
	if !own && w.space != nil {
		word, own = w.space.Annotations[injectNote]
		whose += " of Namespace " + w.object.Ref.Namespace
	}
	switch {
	case w.proxied:
		w.meshed, w.why = topology.Yes, "it has a container linkerd-proxy"
	case own && (word == "enabled" || word == "ingress"):
		w.meshed, w.why = topology.Yes, whose+" is "+word
	case own:
		w.meshed, w.why = topology.No, whose+" is "+word
	case w.space == nil:
		w.meshed, w.why = topology.Maybe, "it has no annotation "+injectNote+", and Namespace "+w.object.Ref.Namespace+" is not in the input"
	default:
		w.meshed, w.why = topology.No, "neither it nor its Namespace has the annotation "+injectNote
	}
}

// note is the value of an annotation: the workload's own, else what the injector copies from the Namespace.
func (w *workload) note(name string) (value, from string) {
	if v, ok := w.notes[name]; ok {
		return v, w.object.Ref.String()
	}
	if w.space != nil && !w.proxied && !w.external && w.meshed != topology.No {
		if v, ok := w.space.Annotations[name]; ok {
			return v, w.space.Ref.String()
		}
	}
	return "", ""
}

// noted are the ports that an annotation lists; one that cannot be read lists none.
func (w *workload) noted(name string) portSet {
	text, _ := w.note(name)
	set, _ := parsePorts(text)
	return set
}

// opaque reports whether a port without a Server is opaque.
func (w *workload) opaque(port int, fallback portSet) bool {
	if _, from := w.note(opaquePortsNote); from == "" && !w.external && w.meshed == topology.Yes && !w.proxied {
		return fallback.has(port) // as the injector writes it
	}
	return w.noted(opaquePortsNote).has(port)
}

// probes notes the HTTP probes of a container.
func (w *workload) probes(c model.Body) {
	for _, field := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		get := c.At(field, "httpGet")
		if !get.IsObject() {
			continue
		}
		port := 0
		switch v := get.Field("port").Value().(type) {
		case int64:
			port = int(v)
		case string:
			port = portCalled(c, v)
		}
		at, err := url.ParseRequestURI(cmp.Or(get.Text("path"), "/"))
		if port > 0 && port <= 65535 && err == nil {
			w.probed[port] = append(w.probed[port], at.EscapedPath())
		}
	}
}

// portCalled is the port of a container with a name, 0 if it has none.
func portCalled(c model.Body, name string) int {
	for _, p := range c.Field("ports").Items {
		n, _ := p.Field("containerPort").Value().(int64)
		if protocol := p.Text("protocol"); strings.EqualFold(p.Text("name"), name) && (protocol == "" || strings.EqualFold(protocol, "TCP")) {
			return int(n)
		}
	}
	return 0
}

func addresses(status model.Body) []string {
	var out []string
	if ip := status.Text("podIP"); ip != "" {
		out = append(out, ip)
	}
	for _, e := range status.Field("podIPs").Items {
		if ip := e.Text("ip"); ip != "" && !slices.Contains(out, ip) {
			out = append(out, ip)
		}
	}
	return out
}

// portsOf are the ports that the port of a Server means at a workload: a number that one, declared or not; a name all of TCP that are called so.
func (w *workload) portsOf(port model.Body) []int {
	var out []int
	switch v := port.Value().(type) {
	case int64:
		if v > 0 && v <= 65535 {
			out = []int{int(v)}
		}
	case string:
		for _, p := range w.declared {
			if p.name == v && v != "" && !slices.Contains(out, p.number) {
				out = append(out, p.number)
			}
		}
	}
	return out
}
