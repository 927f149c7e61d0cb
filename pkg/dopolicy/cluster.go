package dopolicy

import (
	"context"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// OpenFiles reads manifests, or a kustomization, and computes their effective policies. No cluster
// is contacted. Errors are *load.Error; what is wrong with single documents is a problem of the
// input.
func (e *Engine) OpenFiles(ctx context.Context, o load.Options) (*Input, error) {
	read, err := e.ReadFiles(ctx, o)
	if err != nil {
		return nil, err
	}
	return e.Resolve(read), nil
}

// ReadFiles is OpenFiles without an answer. The snapshot may be there beside an error: its
// problems then say what could not be read.
func (e *Engine) ReadFiles(ctx context.Context, o load.Options) (*model.Snapshot, error) {
	return load.Files(ctx, e.completeLoading(o))
}

// ReadOver applies files to objects that were read.
func (e *Engine) ReadOver(ctx context.Context, base *model.Snapshot, o load.Options) (*model.Snapshot, error) {
	return load.ApplyFiles(ctx, base, e.completeLoading(o))
}

// completeLoading adds what the catalogue knows of kinds: which have no namespace, and which answers
// depend on.
func (e *Engine) completeLoading(o load.Options) load.Options {
	o.ClusterScoped = slices.Concat(e.catalog.ClusterScoped(), o.ClusterScoped)
	if o.IsRead == nil {
		o.IsRead = e.decisiveKinds()
	}
	return o
}

// decisiveKinds returns a function that tells on the objects of which kinds answers depend. On
// workloads and ConfigMaps they do only where a policy is about them, which is rare among the many.
func (e *Engine) decisiveKinds() func(model.GroupKind) bool {
	read := sync.OnceValue(func() []model.GroupKind { return ReadKinds(e.catalog, nil) })
	return func(gk model.GroupKind) bool {
		return slices.Contains(gatewayapi.Kinds(), gk) ||
			!slices.Contains([]string{"", "apps", "batch"}, gk.Group) && slices.Contains(read(), gk)
	}
}

// ClusterOptions say what is read from a cluster. What the answers depend on is read in any case;
// the caller sets the Context, ReadAt, Namespaces, Reports, PageSize, Progress, Cache, Overlay and
// Limits.
type ClusterOptions struct {
	cluster.Options
	// Log is told of every request; nil: nobody is.
	Log func(format string, args ...any)
	// Asked narrows what is read to the policy kinds that an answer is about; nil: every kind.
	Asked func(*policy.Kind) bool
}

// OpenCluster reads a cluster and computes its effective policies.
func (e *Engine) OpenCluster(ctx context.Context, config *rest.Config, o ClusterOptions) (*Input, error) {
	read, err := e.ReadCluster(ctx, config, o)
	if err != nil {
		return nil, err
	}
	return e.Resolve(read), nil
}

// ReadCluster is OpenCluster without an answer.
func (e *Engine) ReadCluster(ctx context.Context, config *rest.Config, o ClusterOptions) (*model.Snapshot, error) {
	server, err := cluster.NewServer(config, o.Limits, o.Log)
	if err != nil {
		return nil, err
	}
	return e.ReadServer(ctx, server, o)
}

// ReadServer is ReadCluster from a server that is already known.
func (e *Engine) ReadServer(ctx context.Context, server *cluster.Server, o ClusterOptions) (*model.Snapshot, error) {
	live := o.Options
	live.WithoutGatewayAPI = e.workloads
	live.DependentKinds = e.laterKinds(o.Asked)
	live.Kinds = e.wantedKinds(o.Asked, live.DependentKinds)
	e.addVendorReads(&live, o.Asked)
	live.UndecidedKinds = slices.DeleteFunc(e.catalog.UndecidedKinds(),
		func(gk model.GroupKind) bool { return !slices.Contains(live.Kinds, gk) })
	live.IsPolicyKind = e.otherKinds(o.Asked)
	live.Overlay = e.completeLoading(live.Overlay)
	return cluster.Read(ctx, server, live)
}

// addVendorReads adds the kinds that vendors read though no policy asks for them, where the answer is not
// about certain policy kinds. What is known of policies does not depend on them.
func (e *Engine) addVendorReads(live *cluster.Options, asked func(*policy.Kind) bool) {
	if asked != nil && !e.points {
		return
	}
	needed := policyReads(e.catalog, asked)
	if live.DependentKinds == nil {
		live.DependentKinds = map[model.GroupKind][]model.GroupKind{}
	}
	for _, read := range e.catalog.Knowledge().Reads() {
		live.Kinds = append(live.Kinds, read.Kind)
		live.DependentKinds[read.Kind] = append(live.DependentKinds[read.Kind], read.With...)
		for _, gk := range append([]model.GroupKind{read.Kind}, read.With...) {
			if !slices.Contains(needed, gk) {
				live.SideKinds = append(live.SideKinds, gk)
			}
		}
	}
}

// ReadKinds are the kinds that are read from a cluster, sorted: those that make the topology, the
// described policy kinds that are asked about with the kinds that they look at, and if it is not
// asked about certain ones, what vendors read besides.
func ReadKinds(catalog *descriptor.Catalog, asked func(*policy.Kind) bool) []model.GroupKind {
	out := policyReads(catalog, asked)
	if asked == nil {
		for _, read := range catalog.Knowledge().Reads() {
			out = append(append(out, read.Kind), read.With...)
		}
	}
	slices.SortFunc(out, model.GroupKind.Compare)
	return slices.Compact(out)
}

// policyReads are the kinds that are read for the sake of policies, sorted.
func policyReads(catalog *descriptor.Catalog, asked func(*policy.Kind) bool) []model.GroupKind {
	out := gatewayapi.Kinds()
	for _, k := range catalog.Kinds() {
		together := []*policy.Kind{k} // their policies stand in one order
		for _, gk := range k.Members {
			together = append(together, catalog.Kind(gk))
		}
		if asked == nil || slices.ContainsFunc(together, asked) {
			for _, one := range together {
				out = append(out, one.Reads...)
				if !one.Virtual {
					out = append(out, one.GroupKind)
				}
			}
		}
	}
	slices.SortFunc(out, model.GroupKind.Compare)
	return slices.Compact(out)
}

// wantedKinds are the kinds whose objects an answer can depend on, without those that are read
// later.
func (e *Engine) wantedKinds(asked func(*policy.Kind) bool,
	dependent map[model.GroupKind][]model.GroupKind) []model.GroupKind {
	out, known := policyReads(e.catalog, asked), gatewayapi.Kinds()
	for _, later := range dependent {
		out = slices.DeleteFunc(out, func(gk model.GroupKind) bool {
			return slices.Contains(later, gk) && !slices.Contains(known, gk)
		})
	}
	return out
}

// laterKinds are the kinds that are read only if there are policies about them, where the answer
// is not about pods: pods are many.
func (e *Engine) laterKinds(asked func(*policy.Kind) bool) map[model.GroupKind][]model.GroupKind {
	if e.workloads || e.points || asked != nil {
		return nil
	}
	out := map[model.GroupKind][]model.GroupKind{}
	for _, k := range e.catalog.Kinds() {
		if !k.HasResultsAtWorkloads() {
			continue
		}
		out[k.GroupKind] = k.Reads
		for _, gk := range k.Members { // one that the kind reads does not ask for more
			if !slices.Contains(k.Reads, gk) {
				out[gk] = k.Reads
			}
		}
	}
	return out
}

// otherKinds finds the policy kinds without a descriptor, kinds that are not known and refer to
// Gateways, and, where connections are asked about, kinds that judge these. nil: the answer is
// about certain kinds.
func (e *Engine) otherKinds(asked func(*policy.Kind) bool) func(*model.Object) bool {
	if asked != nil {
		return nil
	}
	known := ReadKinds(e.catalog, nil)
	knowledge := e.catalog.Knowledge()
	return func(definition *model.Object) bool {
		if descriptor.DefinesPolicyKind(definition) {
			return true
		}
		gk, _ := definition.DefinedKind()
		if slices.Contains(known, gk) || knowledge.IsKnown(gk) {
			return false
		}
		return descriptor.DefinesAttachedKind(definition) || (e.workloads || e.points) && knowledge.JudgesConnections(gk)
	}
}
