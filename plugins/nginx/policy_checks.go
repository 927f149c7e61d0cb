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
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// checkBuffers finds ProxySettingsPolicies whose busyBuffersSize is not more than bufferSize, or
// not less than all buffers but one. The controller is stricter than nginx, which takes equal
// sizes.
func checkBuffers(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	b := p.Object.Body.At("spec", "buffering")
	busy, ok := parseSize(b.Text("busyBuffersSize"))
	if !ok {
		return "", nil
	}
	if one, ok := parseSize(b.Text("bufferSize")); ok && busy <= one {
		return failPolicy(p, "Invalid", fmt.Sprintf("busyBuffersSize %s is not more than bufferSize %s",
			b.Text("busyBuffersSize"), b.Text("bufferSize")), "")
	}
	number, known := b.Get("buffers", "number").(int64)
	each, ok := parseSize(b.Text("buffers", "size"))
	if known && ok && busy >= (number-1)*each {
		return failPolicy(p, "Invalid",
			fmt.Sprintf("busyBuffersSize %s is not less than all but one of %d buffers of %s",
				b.Text("busyBuffersSize"), number, b.Text("buffers", "size")), "")
	}
	return "", nil
}

// parseSize is a size of nginx in bytes.
func parseSize(text string) (int64, bool) {
	digits := strings.TrimRight(strings.ToLower(text), "kmg")
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 0 || len(text)-len(digits) > 1 {
		return 0, false
	}
	return n << map[string]int{"": 0, "k": 10, "m": 20, "g": 30}[strings.ToLower(text[len(digits):])], true
}

// checkBalancingMethod finds UpstreamSettingsPolicies with a load-balancing method that is for NGINX
// Plus alone: nginx has least_time as well (internal/controller/nginx/config/http/config.go:321-353
// @ e55bfe339).
func checkBalancingMethod(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	method := p.Object.Text("spec", "loadBalancingMethod")
	if !strings.HasPrefix(method, "random two least_time") || p.Kind.Settings.Bool("nginx.plus") {
		return "", nil
	}
	return failPolicy(p, "Invalid", fmt.Sprintf("loadBalancingMethod %q takes NGINX Plus", method),
		"--vendor-setting nginx.plus=true")
}

// checkUnusedServices finds Services to which no route sends: the controller does not know them,
// and a policy for them is not in force.
func checkUnusedServices(_ *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	v := viewOf(g, in)
	return func(p *policy.Policy, at []topology.NodeID) (string, []model.Problem) {
		var out []model.Problem
		for _, id := range at {
			n := g.Node(id)
			if n.Role != topology.Backend || v.mayUse(n.Ref) ||
				slices.ContainsFunc(gatewayapi.RouteKinds(), in.Cluster.HasUnread) {
				continue
			}
			p.Fail(n.Ref, "no route sends to the Service")
			out = append(out, model.Problem{Severity: model.Info, Code: model.NotReached, Message: fmt.Sprintf(
				"no route sends to %s: %s is in force nowhere there", n.Ref, p.Ref())}.At(p.Object))
		}
		return "", out
	}
}

// checkServiceGroups finds UpstreamSettingsPolicies one of whose targets is of another group than
// that of Services: the API only asks that one is.
func checkServiceGroups(_ *policy.Kind, _ *topology.Graph, _ *model.Snapshot) policy.AttachedCheck {
	return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) {
		for _, to := range listTargets(p) {
			if to.Group != "" || to.Kind != "Service" {
				return failPolicy(p, "Invalid", "it targets "+to.String()+", which is no Service", "")
			}
		}
		return "", nil
	}
}

// checkProcessorBackends finds PayloadProcessors that send to another namespace without a
// ReferenceGrant, or to what is not there.
func checkProcessorBackends(k *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	v := viewOf(g, in)
	return func(p *policy.Policy, at []topology.NodeID) (string, []model.Problem) {
		for _, id := range findGatewaysAbove(g, at, k.Controllers) {
			if gateway := v.gateways[id]; gateway != nil && v.lacksResolver(p, gateway) {
				p.Fail(g.Node(id).Ref, "the processor takes a DNS resolver in the NginxProxy")
			}
		}
		var denied []string
		var problems []model.Problem
		missing := ""
		eachBackend(p.Object.Body.Field("spec"), func(ref model.Body) {
			to := backendOf(p.Object, ref)
			own := p.Ref().Namespace
			switch {
			case to.Namespace == own:
			case in.IsUnread(grantKind, to.Namespace):
				why := in.ExplainUnread("the ReferenceGrants of namespace "+to.Namespace, grantKind, to.Namespace)
				problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
					Message: fmt.Sprintf("%s: the reference to %s is taken to be permitted", why, to)}.At(p.Object))
			case !g.IsGranted(k.GroupKind, own, to):
				denied = append(denied, to.String())
			}
			missing = cmp.Or(missing, explainMissingPort(in, to, ref.Get("port")))
		})
		fault, more := "", []model.Problem(nil)
		switch {
		case len(denied) > 0:
			slices.Sort(denied)
			fault, more = failPolicy(p, "RefNotPermitted", "no ReferenceGrant permits the reference to "+
				limitTexts(slices.Compact(denied)), "a ReferenceGrant in the namespace of the backend must allow it")
		case missing != "":
			fault, more = failPolicy(p, "Invalid", missing, "")
		}
		return fault, append(problems, more...)
	}
}

// explainMissingPort says why nothing can be sent to a port of a Service, "" if it may be there.
func explainMissingPort(in *model.Snapshot, to model.Ref, port any) string {
	o := in.Get(to)
	switch {
	case o == nil && in.FindExistence(to).Presence == model.Missing:
		return to.String() + " does not exist"
	case o == nil:
		return ""
	case port == nil:
		return "the reference to " + to.String() + " has no port"
	}
	for _, p := range o.Body.At("spec", "ports").Items {
		if p.Get("port") == port {
			return ""
		}
	}
	return fmt.Sprintf("%s has no port %v", to, port)
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

// normalizeCoreGroup writes the group of Services as the API has it: the controller takes core as
// well.
func normalizeCoreGroup(_ *model.Object, body any, _ model.Settings) any {
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
	return changeSpec(body, func(spec map[string]any) { spec["targetRefs"] = refs })
}

// nestUnderName puts the settings of a policy under its name: several of one target are in force
// beside each other, each as a whole.
func nestUnderName(o *model.Object, body any, _ model.Settings) any {
	spec, ok := model.Get(body, "spec").(map[string]any)
	if !ok {
		return body
	}
	settings := maps.Clone(spec)
	delete(settings, "targetRefs")
	return changeSpec(body, func(spec map[string]any) {
		clear(spec)
		if refs := model.Get(body, "spec", "targetRefs"); refs != nil {
			spec["targetRefs"] = refs
		}
		if len(settings) > 0 {
			spec[o.Ref.FullName()] = settings
		}
	})
}

// changeSpec is a body with a changed copy of its spec.
func changeSpec(body any, change func(spec map[string]any)) any {
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
