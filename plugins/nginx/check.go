package nginx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// buffers finds ProxySettingsPolicies whose busyBuffersSize is less than bufferSize, or more than all buffers but one.
func buffers(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	b := p.Object.Body.At("spec", "buffering")
	busy, ok := size(b.Text("busyBuffersSize"))
	if !ok {
		return "", nil
	}
	if one, ok := size(b.Text("bufferSize")); ok && busy < one {
		return fail(p, "Invalid", fmt.Sprintf("busyBuffersSize %s is less than bufferSize %s", b.Text("busyBuffersSize"), b.Text("bufferSize")), "")
	}
	number, known := b.Get("buffers", "number").(int64)
	each, ok := size(b.Text("buffers", "size"))
	if known && ok && busy > (number-1)*each {
		return fail(p, "Invalid", fmt.Sprintf("busyBuffersSize %s is more than all but one of %d buffers of %s", b.Text("busyBuffersSize"), number, b.Text("buffers", "size")), "")
	}
	return "", nil
}

// size is a size of nginx in bytes.
func size(text string) (int64, bool) {
	digits := strings.TrimRight(strings.ToLower(text), "kmg")
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 0 || len(text)-len(digits) > 1 {
		return 0, false
	}
	return n << map[string]int{"": 0, "k": 10, "m": 20, "g": 30}[strings.ToLower(text[len(digits):])], true
}

// methods finds UpstreamSettingsPolicies with a load-balancing method that only NGINX Plus has.
func methods(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	method := p.Object.Text("spec", "loadBalancingMethod")
	if !strings.Contains(method, "least_time") || p.Kind.Settings().Bool("nginx.plus") {
		return "", nil
	}
	return fail(p, "Invalid", fmt.Sprintf("loadBalancingMethod %q takes NGINX Plus", method), "--vendor-setting nginx.plus=true")
}

// backends finds PayloadProcessors that send to another namespace without a ReferenceGrant.
func backends(k *policy.Kind, g *topology.Graph, _ *model.Snapshot) policy.Judgement {
	return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) {
		var denied []string
		eachBackend(p.Object.Body.Field("spec"), func(ref model.Body) {
			to := model.Ref{Group: ref.Text("group"), Kind: cmp.Or(ref.Text("kind"), "Service"), Namespace: ref.Text("namespace"), Name: ref.Text("name")}
			if own := p.Ref().Namespace; to.Namespace != "" && to.Namespace != own && !g.Granted(k.GroupKind, own, to) {
				denied = append(denied, to.String())
			}
		})
		if len(denied) == 0 {
			return "", nil
		}
		slices.Sort(denied)
		return fail(p, "RefNotPermitted", "no ReferenceGrant permits the reference to "+few(slices.Compact(denied)), "a ReferenceGrant in the namespace of the backend must allow it")
	}
}

// eachBackend calls see for every reference to a backend in a value.
func eachBackend(v model.Body, see func(model.Body)) {
	for key, inner := range v.Fields {
		switch {
		case key == "backendRef" && inner.IsObject():
			see(inner)
		case key == "backendRefs" && inner.IsList():
			for _, one := range inner.Items {
				see(one)
			}
		default:
			eachBackend(inner, see)
		}
	}
	for _, inner := range v.Items {
		eachBackend(inner, see)
	}
}

// coreGroup writes the group of Services as the API has it: the controller takes core as well.
func coreGroup(_ *model.Object, body any, _ model.Settings) any {
	refs, ok := model.Get(body, "spec", "targetRefs").([]any)
	if !ok {
		return body
	}
	refs = slices.Clone(refs)
	for i, r := range refs {
		if ref, ok := r.(map[string]any); ok && ref["group"] == "core" {
			ref = maps.Clone(ref)
			ref["group"] = ""
			refs[i] = ref
		}
	}
	return withSpec(body, func(spec map[string]any) { spec["targetRefs"] = refs })
}

// named puts the settings of a policy under its name: several of one target are in force beside each other, each as a whole.
func named(o *model.Object, body any, _ model.Settings) any {
	spec, ok := model.Get(body, "spec").(map[string]any)
	if !ok {
		return body
	}
	settings := maps.Clone(spec)
	delete(settings, "targetRefs")
	return withSpec(body, func(spec map[string]any) {
		clear(spec)
		if refs := model.Get(body, "spec", "targetRefs"); refs != nil {
			spec["targetRefs"] = refs
		}
		if len(settings) > 0 {
			spec[o.Ref.FullName()] = settings
		}
	})
}

// withSpec is a body with a changed copy of its spec.
func withSpec(body any, change func(spec map[string]any)) any {
	root, ok := body.(map[string]any)
	if !ok {
		return body
	}
	spec, ok := root["spec"].(map[string]any)
	if !ok {
		return body
	}
	root, spec = maps.Clone(root), maps.Clone(spec)
	change(spec)
	root["spec"] = spec
	return root
}
