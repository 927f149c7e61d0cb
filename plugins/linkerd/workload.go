package linkerd

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
	topologyworkload "github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// The annotations of Pods and Namespaces that are read.
const (
	injectAnnotation          = "linkerd.io/inject"
	defaultPolicyAnnotation   = "config.linkerd.io/default-inbound-policy"
	opaquePortsAnnotation     = "config.linkerd.io/opaque-ports"
	requireIdentityAnnotation = "config.linkerd.io/proxy-require-identity-inbound-ports"
)

// workload is a Pod, what stands for Pods, or a machine outside of the cluster.
type workload struct {
	object      *model.Object
	external    bool
	labels      map[string]string
	annotations map[string]string // annotations
	namespace   *model.Object     // its Namespace; nil: not in the input
	meshed      selector.Truth
	why         string // it is meshed or not, or why that is not known
	hostNetwork bool
	hasProxy    bool // the proxy is in the Pod already, and with it what the Namespace said then
	declared    []containerPort
	probePaths  map[int][]string // the paths of HTTP probes by port, sorted
	probes      map[int][]probe  // the HTTP probes by port, in order
	ports       []int            // that Servers can govern, sorted
	account     string           // its ServiceAccount
	identity    string           // of an ExternalWorkload
	address     []string
}

type containerPort struct {
	name   string
	number int
}

// readWorkloads reads the workloads of an input, in order.
func readWorkloads(in *model.Snapshot) []*workload {
	var out []*workload
	for _, o := range topologyworkload.List(in) {
		out = append(out, readPod(in, o))
	}
	for _, o := range in.OfKind(externalWorkloadKind) {
		out = append(out, readExternal(in, o))
	}
	return out
}

func readExternal(in *model.Snapshot, o *model.Object) *workload {
	w := &workload{object: o, external: true, labels: o.Labels, annotations: o.Annotations,
		namespace: in.Get(model.Ref{Kind: "Namespace", Name: o.Ref.Namespace}),
		meshed:    selector.Yes, why: "an ExternalWorkload is in the mesh", identity: o.Text("spec",
			"meshTLS", "identity")}
	for _, p := range o.Body.At("spec", "ports").Items {
		w.addPort(p.Text("name"), p.Text("protocol"), p.Field("port"))
	}
	for _, ip := range o.Body.At("spec", "workloadIPs").Items {
		w.address = append(w.address, ip.Text("ip"))
	}
	return w
}

func readPod(in *model.Snapshot, o *model.Object) *workload {
	w := &workload{object: o, namespace: in.Get(model.Ref{Kind: "Namespace", Name: o.Ref.Namespace}),
		probePaths: map[int][]string{}, probes: map[int][]probe{}}
	w.labels, w.annotations = topologyworkload.PodMetadata(o)
	spec := topologyworkload.PodSpec(o)
	w.hostNetwork = topologyworkload.IsOnHostNetwork(o)
	w.account = cmp.Or(spec.Text("serviceAccountName"), spec.Text("serviceAccount"), "default")
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Field(list).Items {
			w.hasProxy = w.hasProxy || c.Text("name") == "linkerd-proxy"
			for _, p := range c.Field("ports").Items {
				w.addPort(p.Text("name"), p.Text("protocol"), p.Field("containerPort"))
			}
			w.addProbes(c)
		}
	}
	for port, paths := range w.probePaths {
		slices.Sort(paths)
		w.probePaths[port] = slices.Compact(paths)
	}
	if o.Ref.GroupKind() == podKind {
		w.address = readAddresses(o.Body.Field("status"))
	}
	w.setMembership()
	return w
}

// addPort notes a port of TCP.
func (w *workload) addPort(name, protocol string, number model.Body) {
	n, _ := number.Value().(int64)
	if (protocol == "" || strings.EqualFold(protocol, "TCP")) && n > 0 && n <= 65535 {
		w.declared = append(w.declared, containerPort{name, int(n)})
	}
}

// setMembership finds out whether the workload is in the mesh.
func (w *workload) setMembership() {
	word, own := w.annotations[injectAnnotation]
	whose := "annotation " + injectAnnotation
	if !own && w.namespace != nil {
		word, own = w.namespace.Annotations[injectAnnotation]
		whose += " of Namespace " + w.object.Ref.Namespace
	}
	switch {
	case w.hasProxy:
		w.meshed, w.why = selector.Yes, "it has a container linkerd-proxy"
	case own && w.hostNetwork:
		w.meshed, w.why = selector.No, "it is in the network of its node, where no proxy is injected"
	case own && (word == "enabled" || word == "ingress"):
		w.meshed, w.why = selector.Yes, whose+" is "+word
	case own:
		w.meshed, w.why = selector.No, whose+" is "+word
	case w.namespace == nil:
		w.meshed, w.why = selector.Maybe, "it has no annotation "+injectAnnotation+", and Namespace "+
			w.object.Ref.Namespace+" is not in the input"
	default:
		w.meshed, w.why = selector.No, "neither it nor its Namespace has the annotation "+injectAnnotation
	}
}

// findAnnotation is the value of an annotation: the workload's own, else what the injector copies
// from the Namespace.
func (w *workload) findAnnotation(name string) (value, from string) {
	if v, ok := w.annotations[name]; ok {
		return v, w.object.Ref.String()
	}
	if w.namespace != nil && !w.hasProxy && !w.external && w.meshed != selector.No {
		if v, ok := w.namespace.Annotations[name]; ok {
			return v, w.namespace.Ref.String()
		}
	}
	return "", ""
}

// annotatedPorts are the ports that an annotation lists; one that cannot be read lists none.
func (w *workload) annotatedPorts(name string) portSet {
	text, _ := w.findAnnotation(name)
	set, _ := parsePorts(text)
	return set
}

// isOpaque reports whether a port without a Server is opaque.
func (w *workload) isOpaque(port int, fallback portSet) bool {
	if _, from := w.findAnnotation(opaquePortsAnnotation); from == "" && !w.external && w.meshed == selector.Yes &&
		!w.hasProxy {
		return fallback.containsPort(port) // as the injector writes it
	}
	return w.annotatedPorts(opaquePortsAnnotation).containsPort(port)
}

// addProbes notes the HTTP probes of a container.
func (w *workload) addProbes(c model.Body) {
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
			port = findNamedPort(c, v)
		}
		at, err := url.ParseRequestURI(cmp.Or(get.Text("path"), "/"))
		if port > 0 && port <= 65535 && err == nil {
			w.probePaths[port] = append(w.probePaths[port], at.EscapedPath())
			w.probes[port] = append(w.probes[port], readProbe(get, at))
		}
	}
}

// findNamedPort is the port of a container with a name, 0 if it has none.
func findNamedPort(c model.Body, name string) int {
	for _, p := range c.Field("ports").Items {
		n, _ := p.Field("containerPort").Value().(int64)
		if protocol := p.Text("protocol"); strings.EqualFold(p.Text("name"), name) && (protocol == "" ||
			strings.EqualFold(protocol, "TCP")) {
			return int(n)
		}
	}
	return 0
}

func readAddresses(status model.Body) []string {
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

// resolvePort are the ports that the port of a Server means at a workload: a number that one,
// declared or not; a name all of TCP that are called so.
func (w *workload) resolvePort(port model.Body) []int {
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
