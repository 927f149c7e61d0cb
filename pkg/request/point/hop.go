package point

import (
	"cmp"
	"net/netip"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// End is one end of a hop.
type End struct {
	// Object is a Pod, or what has a template of Pods: of proxies that are not in the input a Pod as
	// their controller makes it. nil: it is no Pod.
	Object *model.Object
	Node   topology.NodeID // of Object in the graph; None: it has none
	// Stands is the object that is named in the place of one that is not in the input.
	Stands  model.Ref
	Gateway *model.Object // whose proxies they are; nil: they are none

	PodsUnknown    bool       // it has Pods, of which nothing is known
	AccountUnknown bool       // which service account it has is not known
	LabelsUnknown  bool       // it may have other labels than those of Object
	Address        netip.Addr // of what is no Pod
	// DialsService reports whether a proxy connects to the address of a Service and leaves it to the
	// network which of its Pods that is; nil: it connects to Pods.
	DialsService func(service *model.Object) bool
}

// Ref is the object that stands for the end; zero for an address.
func (e *End) Ref() model.Ref {
	switch {
	case e.Stands.Name != "":
		return e.Stands
	case e.Object != nil:
		return e.Object.Ref
	}
	return model.Ref{}
}

// String names the end for people.
func (e *End) String() string {
	switch {
	case e.Gateway != nil && e.Stands == e.Gateway.Ref:
		return "the proxy of " + e.Gateway.Ref.String()
	case e.Ref().Name != "":
		return e.Ref().String()
	case e.Object != nil:
		return "a client in namespace " + e.Object.Ref.Namespace
	}
	return e.Address.String()
}

// ServiceAccount is the name of the service account of its Pods; "" if it is not known.
func (e *End) ServiceAccount() string {
	if e.Object == nil || e.AccountUnknown {
		return ""
	}
	spec := workload.PodSpec(e.Object)
	return cmp.Or(spec.Text("serviceAccountName"), spec.Text("serviceAccount"), "default")
}

// Namespace is the namespace of its Pods; "" for an address.
func (e *End) Namespace() string {
	if e.Object == nil {
		return ""
	}
	return e.Object.Ref.Namespace
}

// NewAssumedPod returns a Pod that is not in the input, as whoever makes it would.
func NewAssumedPod(namespace, name, account string, labels map[string]string) *model.Object {
	spec := map[string]any{}
	if account != "" {
		spec["serviceAccountName"] = account
	}
	return &model.Object{Ref: model.Ref{Kind: "Pod", Namespace: namespace, Name: name}, Version: "v1", Labels: labels,
		Body: model.Pack(map[string]any{"spec": spec}, nil)}
}

// Hop is one connection on the way: from one proxy or workload to the next.
type Hop struct {
	From, To End
	Service  *model.Object // whose Pods are dialed; nil: a Pod is dialed by itself
	// ToService says that the address of the Service is dialed, and not that of a Pod.
	ToService bool
	Protocol  string // TCP, UDP or SCTP
	Port      int    // of the Pods that receive; 0: it is not known
	WirePort  int    // the port that the network sees; Port, unless a mesh tunnels the connection
	// ToProxy says that the hop ends at a proxy on the way, and not at the workload.
	ToProxy bool
	Request *request.Answer // what is sent; nil: nothing is known but the connection
}

// Detour is a proxy between the ends of a hop.
type Detour struct {
	Point Point // judged; Bypassed if the hop does not lead through it
	Proxy End   // that connects to the destination in place of the source; of one that is passed
	Port  int   // of the proxy, as the network sees it
}

// Layer is what one vendor knows about hops. Its functions may be nil.
type Layer struct {
	// FindDetours lists the proxies between the ends, as alternatives: which one it is is not
	// known, or each takes a part. nil: there are none.
	FindDetours func(h *Hop) [][]Detour
	// FindWirePort returns the port that the network sees; 0: that of the Pods.
	FindWirePort func(h *Hop) int
	// Judge lists the points at the ends of a hop, and judges them.
	Judge func(h *Hop) []Point
}

// LayerMaker makes the layer of one vendor for an input; nil: the vendor has no part in it.
type LayerMaker func(r *resolve.Resolution) *Layer

// ProxyFinder finds the proxies of a Gateway: what their Pods are, as alternatives if it is not
// known which. ok is false if the Gateway is not one of its implementation.
type ProxyFinder func(r *resolve.Resolution, gateway *model.Object, controller string) (proxies []End, ok bool)

// Vendors is what all vendors know about hops.
type Vendors struct {
	Layers  []LayerMaker
	Proxies []ProxyFinder
}
