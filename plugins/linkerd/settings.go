package linkerd

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The words of policies for ports, which are those of accessPolicy as well.
const (
	deny                   = "deny"
	audit                  = "audit"
	allUnauthenticated     = "all-unauthenticated"
	allAuthenticated       = "all-authenticated"
	clusterUnauthenticated = "cluster-unauthenticated"
	clusterAuthenticated   = "cluster-authenticated"
)

var policyWords = []string{deny, audit, allUnauthenticated, allAuthenticated, clusterUnauthenticated,
	clusterAuthenticated}

// settings are the vendor's switches.
type settings struct {
	mesh, fallback                        string
	cluster, probes                       []string
	controlPlane, trustDomain, egressHome string
	opaque                                portSet
}

func readSettings(s model.Settings) settings {
	opaque, _ := parsePorts(s.Text("linkerd.defaultOpaquePorts"))
	return settings{mesh: s.Text("linkerd.mesh"), fallback: s.Text("linkerd.defaultInboundPolicy"),
		cluster: parseList(s.Text("linkerd.clusterNetworks")), probes: parseList(s.Text("linkerd.probeNetworks")),
		controlPlane: s.Text("linkerd.controlPlaneNamespace"), trustDomain: s.Text("linkerd.identityTrustDomain"),
		egressHome: s.Text("linkerd.globalEgressNetworkNamespace"), opaque: opaque}
}

// defaultSettings are the defaults of the settings: whoever sets one otherwise says that there is a
// mesh.
var defaultSettings = map[string]string{"defaultInboundPolicy": allUnauthenticated,
	"clusterNetworks": "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8",
	"probeNetworks":   "0.0.0.0/0,::/0", "controlPlaneNamespace": "linkerd", "identityTrustDomain": "cluster.local",
	"globalEgressNetworkNamespace": "linkerd-egress",
	"defaultOpaquePorts":           "25,587,3306,4444,5432,6379,9300,11211"}

// parseList reads a list, as JSON or with commas.
func parseList(text string) []string {
	var out []string
	if strings.HasPrefix(strings.TrimSpace(text), "[") && json.Unmarshal([]byte(text), &out) == nil {
		return out
	}
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// isPresent reports whether the input has anything of Linkerd: an object, an annotation of a
// Namespace, a Pod, a Service or a route, or a setting.
func isPresent(in *model.Snapshot, s model.Settings) bool {
	switch s.Text("linkerd.mesh") {
	case "true":
		return true
	case "false":
		return false
	}
	for name, value := range defaultSettings {
		if s.Text("linkerd."+name) != value {
			return true
		}
	}
	if slices.ContainsFunc(in.Kinds(), func(gk model.GroupKind) bool {
		return gk.Group == group ||
			gk.Group == workloadGroup
	}) {
		return true
	}
	for _, gk := range []model.GroupKind{namespaceKind, podKind, serviceKind, httpRouteKind, grpcRouteKind} {
		for key := range in.AnnotationNames(gk) {
			if isOwnAnnotation(key) {
				return true
			}
		}
	}
	return false
}

// hasOwnAnnotation reports whether an object has an annotation of Linkerd.
func hasOwnAnnotation(o *model.Object) bool {
	for key := range o.Annotations {
		if isOwnAnnotation(key) {
			return true
		}
	}
	return false
}

// isOwnAnnotation reports whether an annotation is one of Linkerd.
func isOwnAnnotation(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "linkerd.io" || strings.HasSuffix(domain, ".linkerd.io")
}

// parsePrefix reads a CIDR or a bare address.
func parsePrefix(text string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), true
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	return netip.Prefix{}, false
}

// containsNetwork reports whether a network holds all of another one.
func containsNetwork(outer, inner netip.Prefix) bool {
	return outer.Addr().BitLen() == inner.Addr().BitLen() && outer.Bits() <= inner.Bits() &&
		outer.Contains(inner.Addr())
}

// serviceAccountIdentity is the identity of the pods of a ServiceAccount.
func (s settings) serviceAccountIdentity(namespace, name string) string {
	return name + "." + namespace + ".serviceaccount.identity." + s.controlPlane + "." + s.trustDomain
}
