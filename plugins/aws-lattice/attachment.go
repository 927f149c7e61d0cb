package awslattice

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// serviceLevel is where policies of a Service stand at the ServiceExport of its name: before those
// of the export itself.
const serviceLevel topology.Role = "service"

// attachToExports attaches the policy of a Service to the ServiceExport of the Service's name, with
// nothing but its health check.
func attachToExports(p *policy.Policy, g *topology.Graph, _ *model.Snapshot, _ model.Settings) ([]policy.Attached,
	[]model.Problem) {
	if len(p.Refs) == 0 || p.Refs[0].Ref.GroupKind() != (model.GroupKind{Kind: "Service"}) {
		return nil, nil
	}
	check := healthCheckUnits(p)
	if check == nil {
		return nil, nil
	}
	var out []policy.Attached
	for _, id := range g.Lookup(model.Ref{Group: exportKind.Group, Kind: exportKind.Kind, Namespace: p.Ref().Namespace,
		Name: p.Refs[0].Ref.Name}) {
		out = append(out, policy.Attached{Policy: p, Node: id, Ref: -1, Level: serviceLevel,
			Details: &policy.TargetDetails{Units: check}})
	}
	return out, nil
}

// healthCheckUnits is the part of a policy that is its health check.
func healthCheckUnits(p *policy.Policy) []merge.Unit {
	var out []merge.Unit
	for _, b := range p.Blocks {
		for _, u := range b.Units {
			if len(u.Path) > 0 && u.Path[0].Name == "healthCheck" {
				out = append(out, u)
			}
		}
	}
	return out
}

// dropTargetNamespace makes of a targetRef what the controller reads: it looks for the target in
// the policy's namespace, whatever the reference says.
func dropTargetNamespace(_ *model.Object, body any, _ model.Settings) any {
	return changeSpec(body, func(spec map[string]any) {
		if ref, ok := spec["targetRef"].(map[string]any); ok {
			ref = maps.Clone(ref)
			delete(ref, "namespace")
			spec["targetRef"] = ref
		}
	})
}

// nestUnderDestination makes of an AccessLogPolicy what the controller reads: a reference without a
// namespace means the namespace default, and what policies of one target compete for is the type of
// the destination.
func nestUnderDestination(_ *model.Object, body any, _ model.Settings) any {
	return changeSpec(body, func(spec map[string]any) {
		if ref, ok := spec["targetRef"].(map[string]any); ok && (ref["namespace"] == nil || ref["namespace"] == "") {
			ref = maps.Clone(ref)
			ref["namespace"] = "default"
			spec["targetRef"] = ref
		}
		if arn, ok := spec["destinationArn"].(string); ok {
			spec["destinationArn"] = map[string]any{parseDestinationType(arn): arn}
		}
	})
}

// parseDestinationType is the service that an ARN names: s3, logs or firehose.
func parseDestinationType(arn string) string {
	parts := strings.Split(arn, ":")
	if len(parts) < 3 || parts[2] == "" {
		return "unknown"
	}
	return parts[2]
}

// changeSpec is a body with a changed copy of its spec.
func changeSpec(body any, change func(spec map[string]any)) any {
	whole, ok := body.(map[string]any)
	spec, both := whole["spec"].(map[string]any)
	if !ok || !both {
		return body
	}
	whole, spec = maps.Clone(whole), maps.Clone(spec)
	change(spec)
	whole["spec"] = spec
	return whole
}

// checkOwnGateway leaves paths through Gateways of other controllers out: there is no target group
// behind them.
func checkOwnGateway(g *topology.Graph, parent, child topology.NodeID) *model.Problem {
	n := g.Node(child)
	class := g.Node(parent)
	if n.Role != topology.Gateway || class.Role != topology.GatewayClass || class.Object == nil {
		return nil
	}
	if name := class.Object.Text("spec", "controllerName"); name != controller {
		p := model.Problem{Severity: model.Info, Code: model.NotReached,
			Message: fmt.Sprintf("%s belongs to controller %s: %s does not apply on paths through it", n.Ref, name,
				targetGroupPolicy)}.At(n.Object)
		return &p
	}
	return nil
}

// checkNamespace reports a namespace in a targetRef that the controller does not look at.
func checkNamespace(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	ns := p.Object.Text("spec", "targetRef", "namespace")
	if ns == "" || ns == p.Ref().Namespace {
		return "", nil
	}
	return "", []model.Problem{model.Problem{Severity: model.Warning, Code: model.CrossNamespaceTarget,
		Message: fmt.Sprintf(
			"the controller does not read the namespace %s in the targetRef: the policy is attached to the object of that name in namespace %s", ns, p.Ref().Namespace),
		Hint: "move the policy to the target's namespace"}.At(p.Object, "spec", "targetRef", "namespace")}
}

// nameOverride is the annotation with which a route chooses the name of its VPC Lattice service.
const nameOverride = group + "/service-name-override"

var serviceNamePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// checkServiceName finds policies for routes whose service-name-override is none.
func checkServiceName(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	if len(p.Refs) == 0 {
		return "", nil
	}
	o := in.Get(p.Refs[0].Ref)
	if o == nil || o.Ref.Kind == "Gateway" {
		return "", nil
	}
	name, ok := o.Annotations[nameOverride]
	if !ok || len(name) >= 3 && len(name) <= 40 && serviceNamePattern.MatchString(name) &&
		!strings.HasPrefix(name, "svc-") && !strings.Contains(name, "--") {
		return "", nil
	}
	return fmt.Sprintf("service-name-override %q of %s is no name of a VPC Lattice service", name, o.Ref), nil
}

// checkTCPVersion finds policies for Services with the protocol TCP and a version: no target group
// is built then, though the policy stays accepted.
func checkTCPVersion(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	spec := p.Object.Body.Field("spec")
	if spec.Text("protocol") != "TCP" || spec.Field("protocolVersion").IsNull() || len(p.Refs) == 0 ||
		p.Refs[0].Ref.Kind != "Service" {
		return "", nil
	}
	why := "protocol TCP has no protocolVersion: the controller builds no target group"
	p.Fail(p.Refs[0].Ref, why)
	return "", []model.Problem{model.Problem{Severity: model.Warning, Code: model.PolicyInError,
		Message: why + " for " + p.Refs[0].Ref.String()}.At(p.Object, "spec", "protocolVersion")}
}
