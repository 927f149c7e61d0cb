package linkerd

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// newServerFinder finds the ports that a Server selects.
func newServerFinder(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
	w := buildMeshIndex(in, s)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		v := w.byObject[p.Object]
		var out []topology.NodeID
		selected, outside := 0, ""
		var lost []string
		for _, load := range w.workloads {
			if !v.selectsWorkload(load) {
				continue
			}
			selected++
			if load.meshed == selector.No {
				outside = load.object.Ref.String() + " is not in the mesh: " + load.why
				continue
			}
			for _, port := range load.resolvePort(v.serverPort()) {
				if by := w.findGovernor(load, port); by != v {
					lost = append(lost, fmt.Sprintf("port %d of %s is governed by Server %s, which comes before it",
						port, load.object.Ref, by.object.Ref.FullName()))
				}
				out = append(out, g.Lookup(load.object.Ref.WithSection(strconv.Itoa(port)))...)
			}
		}
		switch {
		case len(lost) > 1:
			lost[0] += fmt.Sprintf(" (and %d more)", len(lost)-1)
			fallthrough
		case len(lost) == 1:
			return out, []model.Problem{serversOverlap.NewProblem("%s", lost[0]).At(p.Object)}
		case len(out) > 0 || v.invalidReason != "":
			return out, nil
		}
		problem := model.Problem{Severity: model.Info, Code: model.NotReached,
			Message: "it selects no workload of the input"}
		switch {
		case outside != "":
			problem.Severity, problem.Message = model.Warning, outside+"; no proxy asks the Server"
		case selected > 0:
			problem.Severity, problem.Message = model.Warning, fmt.Sprintf(
				"no TCP port of what it selects is called %s", v.serverPort())
		}
		return nil, []model.Problem{problem.At(p.Object)}
	}
}

// workloadPort is a port of a workload.
type workloadPort struct {
	world *meshIndex
	load  *workload
	port  int
	node  topology.NodeID
}

// newPortSituator is what is in force at ports of workloads: the settings of the oldest Server,
// else the default.
func newPortSituator(g *topology.Graph, in *model.Snapshot, s model.Settings) func(topology.NodeID) *policy.Situation {
	if !isPresent(in, s) {
		return nil
	}
	w := buildMeshIndex(in, s)
	places := map[topology.NodeID]workloadPort{}
	for _, load := range w.workloads {
		for _, id := range g.Lookup(load.object.Ref) {
			for i, part := range g.Parts(id) {
				if g.Node(part).Role == portRole {
					places[part] = workloadPort{w, load, load.ports[i], part}
				}
			}
		}
	}
	return func(id topology.NodeID) *policy.Situation {
		at, ok := places[id]
		if !ok {
			return nil
		}
		protocol, access := at.defaultPolicies()
		builtins := []*policy.Policy{protocol, access}
		if probes := at.probePolicy(); probes != nil {
			builtins = append(builtins, probes)
		}
		return &policy.Situation{Key: strconv.Itoa(int(id)), Builtins: builtins, AlwaysInForce: at.load.isShown(),
			Place: func(*policy.Policy) (topology.NodeID, topology.Role) { return id, portRole },
			Fold: func(layers []*policy.Policy) merge.PlanFunc {
				return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return at.foldServers(layers, len(builtins)) }
			}}
	}
}

// defaultPolicies is what holds at a port without a Server: what the annotations of the Pod say,
// else the setting of the cluster (IX R4-R6).
func (at workloadPort) defaultPolicies() (protocol, access *policy.Policy) {
	load, set := at.load, at.world.settings
	word, label := set.fallback, "cluster default"
	if v, from := load.findAnnotation(defaultPolicyAnnotation); slices.Contains(policyWords, v) {
		word, label = v, "annotation "+defaultPolicyAnnotation+" of "+from
	}
	if load.annotatedPorts(requireIdentityAnnotation).containsPort(at.port) && strings.HasSuffix(word, "-unauthenticated") {
		_, from := load.findAnnotation(requireIdentityAnnotation)
		word, label = strings.TrimSuffix(word, "-unauthenticated")+"-authenticated", "annotation "+
			requireIdentityAnnotation+" of "+from
	}
	detect, whose := "unknown", "cluster default"
	if load.isOpaque(at.port, set.opaque) {
		detect = "opaque"
		if _, from := load.findAnnotation(opaquePortsAnnotation); from != "" {
			whose = "annotation " + opaquePortsAnnotation + " of " + from
		}
	}
	return at.newBuiltin(whose, "proxyProtocol", detect), at.newBuiltin(label, "accessPolicy", word)
}

// probePolicy is what proxies let through for HTTP probes of the port; nil if there are none, or
// routes, which take their place (IX R19).
func (at workloadPort) probePolicy() *policy.Policy {
	paths := at.load.probePaths[at.port]
	v := at.world.findGovernor(at.load, at.port)
	if len(paths) == 0 || len(at.world.settings.probes) == 0 || v != nil && (len(v.activeRoutes()) > 0 ||
		v.protocol == "opaque" || v.protocol == "TLS" || v.protocol == "gRPC") {
		return nil
	}
	list := func(texts []string) []any {
		out := make([]any, len(texts))
		for i, t := range texts {
			out[i] = t
		}
		return out
	}
	return at.newBuiltin("probes of "+at.load.object.Ref.String(), "probes", map[string]any{"paths": list(paths),
		"networks": list(at.world.settings.probes)})
}

// newBuiltin is a setting that no policy wrote.
func (at workloadPort) newBuiltin(label, name string, value any) *policy.Policy {
	return policy.NewBuiltin(label, at.load.object, nil, []merge.Unit{{Path: merge.KeyPath(name), Value: value}})
}

// foldServers puts the settings of the first Server in force; others are as if they were not there
// (IX, reindex_servers). Only probes stay beside it.
func (at workloadPort) foldServers(layers []*policy.Policy, builtins int) ([]merge.Unit, []merge.Effect) {
	var m merge.Output
	first := -1
	for i, l := range layers {
		if l.Builtin != "" {
			continue
		}
		spec := readServer(l.Object)
		values := map[string]any{"proxyProtocol": spec.protocol, "accessPolicy": spec.accessPolicy()}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if first < 0 {
				m.Take(merge.KeyPath(name), values[name], i)
			} else {
				m.Lose(merge.KeyPath(name), values[name], i, merge.SameLevelOrder, first)
			}
		}
		if first < 0 {
			first = i
		}
	}
	for i, l := range layers[:builtins] {
		u := l.Blocks[0].Units[0]
		if first < 0 || u.Path.String() == "probes" {
			m.Take(u.Path, u.Value, i)
		}
	}
	return m.Units, m.Effects
}
