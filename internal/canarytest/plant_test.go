package canarytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// stays are the fields whose texts are names, references, addresses, paths, words and times, which
// redacted output may have. The list is short on purpose, and made without the program's own.
var stays = []string{"apiVersion", "kind", "name", "namespace", "group", "apiGroup", "sectionName", "uid",
	"creationTimestamp", "lastTransitionTime", "controllerName",
	"gatewayClassName", "protocol", "appProtocol", "hostname", "hostnames", "host", "hosts", "method", "port", "ports",
	"targetPort", "address", "addresses", "cidr",
	"targetRef", "targetRefs", "parentRefs", "labels", "matchLabels", "matchExpressions", "ownerReferences",
	"type", "mode", "from", "defaultScope", "useDefaultGateways", "protocolPort", "except", "podIP", "hostIP", "ip",
	"ips", "clusterIP", "clusterIPs", "externalName",
	// what tells entries of lists apart, strategies, and names of settings that are deactivated
	"key", "context", "plugin", "mergingMode", "unset", "remove",
	"strategy", "mergeType", "mergeStrategy", "operator", "scheme", "scope", "plural", "singular", "listKind",
	"shortNames", "status", "reason"}

// notes are the annotations whose values are names and words, by which policies attach or are
// ordered.
var notes = []string{"konghq.com/plugins", "konghq.com/upstream-policy", "kgateway.dev/policy-weight",
	"kgateway.dev/inherited-policy-priority", "delegation.gateway.solo.io/enable-policy-overrides",
	"delegation.gateway.solo.io/inherit-parent-matcher", "delegation.kgateway.dev/inherit-parent-matcher",
	"aigateway.envoyproxy.io/gateway-config", "dopolicy.dev/ignore",
	"application-networking.k8s.aws/service-name-override", "config.linkerd.io/default-inbound-policy",
	"config.linkerd.io/opaque-ports",
	"config.linkerd.io/proxy-require-identity-inbound-ports", "linkerd.io/inject", "istio.io/dry-run",
	"istio.io/ignore-policy-attachment", "sidecar.istio.io/inject",
	"ambient.istio.io/redirection", "ambient.istio.io/waypoint-inbound-binding", "inject.istio.io/templates",
	"cert-manager.io/cluster-issuer", "cert-manager.io/issuer",
	"cert-manager.io/ignore-tls-listeners", "kubernetes.io/tls-acme", "replicator.v1.mittwald.de/replicate-to",
	"replicator.v1.mittwald.de/replicate-to-matching",
	"reflector.v1.k8s.emberstack.com/reflection-auto-enabled"}

// below are those that keep what is below them as well, in these places.
var below = [][]string{{"labels"}, {"matchLabels"}, {"selector"}, {"podSelector"}, {"namespaceSelector"},
	{"matchExpressions"}, {"tags"}, {"path"}, {"gep"}, {"names"}}

// planter puts canaries into objects.
type planter struct {
	planted []string
	stored  bool // as a server has the objects; it refuses most of them
}

func (p *planter) canary() string {
	c := fmt.Sprintf("zqcanary%05dx", len(p.planted))
	p.planted = append(p.planted, c)
	return c
}

// object is an object with canaries, and with an annotation, a message and a copy of itself that
// have some.
func (p *planter) object(o map[string]any) map[string]any {
	out, _ := p.value(o, nil, o["kind"] == "CustomResourceDefinition").(map[string]any)
	meta, _ := out["metadata"].(map[string]any)
	if meta == nil {
		return out
	}
	if p.stored {
		meta["resourceVersion"] = "1"
	}
	notes, _ := meta["annotations"].(map[string]any)
	if notes == nil {
		notes = map[string]any{}
		meta["annotations"] = notes
	}
	notes["example.com/"+p.canary()] = p.canary()
	notes["kubectl.kubernetes.io/last-applied-configuration"] = `{"a":"` + p.canary() + `"}`
	meta["managedFields"] = []any{map[string]any{"manager": p.canary()}}
	status, _ := out["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
	}
	out["status"] = status
	status["note"] = p.canary()
	status["conditions"] = []any{map[string]any{"type": "Accepted", "status": "False", "reason": "Invalid",
		"message": p.canary(), "observedGeneration": 1}}
	status["ancestors"] = []any{map[string]any{"ancestorRef": map[string]any{"name": "gw"},
		"controllerName": "example.com/c",
		"conditions": []any{map[string]any{"type": "Accepted", "status": "False", "reason": "Invalid",
			"message": p.canary()}}}}
	return out
}

func (p *planter) value(v any, path []string, definition bool) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for key, inner := range t {
			out[key] = p.value(inner, append(path[:len(path):len(path)], key), definition)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, inner := range t {
			out[i] = p.value(inner, path, definition)
		}
		return out
	case string:
		if p.keeps(path, definition) {
			return v
		}
		return p.canary()
	}
	return v
}

func (p *planter) keeps(path []string, definition bool) bool {
	last := path[len(path)-1]
	switch {
	case slices.Contains(notes, last) && slices.Contains(path, "annotations"):
		return true
	case last == "service" && slices.Contains(path, "matches") && path[len(path)-2] == "method": // of gRPC
		return true
	case slices.Contains(path, "annotations"), slices.Contains(path, "data"), slices.Contains(path, "stringData"),
		slices.Contains(path, "env"):
		return false
	case last == "value" || last == "values":
		return slices.Contains(path, "path") || slices.Contains(path, "matchExpressions") ||
			strings.HasSuffix(strings.Join(path, "."), "addresses.value")
	case definition && (last == "required" || last == "enum" || strings.HasPrefix(last, "x-kubernetes-list-")):
		return true
	}
	return slices.Contains(stays, last) ||
		slices.ContainsFunc(below, func(b []string) bool { return slices.Contains(path[:len(path)-1], b[0]) })
}

// made is an object of a policy kind with canaries where settings may be.
func made(k *policy.Kind) map[string]any {
	free := func() map[string]any {
		return map[string]any{"a": "x", "list": []any{"x", map[string]any{"value": "x"}},
			"conf": map[string]any{"secret": "x", "header": map[string]any{"value": "x"}}}
	}
	spec := free()
	out := map[string]any{"apiVersion": k.GroupKind.Group + "/v1", "kind": k.GroupKind.Kind,
		"metadata": map[string]any{"name": "made", "namespace": "default"}, "spec": spec, "data": "x"}
	spec["targetRef"] = map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gw"}
	for block, at := range k.Content.Blocks {
		if _ = block; len(at) == 2 && at[0] == "spec" {
			spec[at[1]] = free()
		}
	}
	return out
}
