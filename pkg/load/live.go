package load

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// LiveOptions say what to read of a cluster.
type LiveOptions struct {
	Context string            // the name by which answers call the cluster
	Kinds   []model.GroupKind // what is read where it is served

	// After are kinds that are read only if there are objects of another one, by that.
	After map[model.GroupKind][]model.GroupKind

	// Bare lets a cluster without the Gateway API be read.
	Bare bool

	// Policies tells the CustomResourceDefinitions of policy kinds from others. The objects of such kinds are read as well, and
	// the definitions. If it is nil, no definition is read for their sake.
	Policies func(definition *model.Object) bool

	// Undecided are kinds whose definitions say how their objects are read. If one of them is served, the definitions are read.
	Undecided []model.GroupKind

	// Home are the namespaces that the question is about. Where the objects of all namespaces may not be listed, those of these
	// namespaces, and of all that are named by objects there, may be.
	Home []string

	Chunk  int // objects a list is asked for at a time; 0: all at once
	Limits Limits

	Progress *Progress
	Cache    *Cache // of lists that are not read again; nil: all are read

	Over Options // manifests that take the place of what the cluster has, as if they were applied
}

// Progress is how far reading has come, to be looked at from elsewhere.
type Progress struct{ Lists, Done, Objects atomic.Int64 }

// listsAtATime bounds the requests that are under way at once.
const listsAtATime = 16

const (
	secretKind    = "Secret"
	namespaceKind = "Namespace"
	gatewayGroup  = "gateway.networking.k8s.io"
)

// Live reads a cluster into a snapshot: a list of every kind that matters and is served, page by page, all kinds side by side, and no
// request for a single object but where lists are forbidden. What the user may not list is a gap of the snapshot's Cluster and a Forbidden
// problem. Secrets are never read. There is an *Error if no answer is possible: no server, no valid credentials, no Gateway API, or a list
// that fails for other reasons than permissions; a part of a list never passes for the whole.
func Live(ctx context.Context, server *Server, o LiveOptions) (*model.Snapshot, error) {
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	r := &liveReader{server: server, o: o, limits: o.Limits.orDefault(), seats: make(chan struct{}, listsAtATime), forbidden: map[model.GroupKind]*refusal{},
		asked: map[model.GroupKind]bool{}, bones: map[model.GroupKind]bool{}}
	if err := r.run(ctx); err != nil {
		return nil, liveError(ctx, o.Context, err)
	}
	outcomes, problems := r.outcomes, r.problems()
	if len(o.Over.Paths) > 0 || o.Over.Kustomization != "" {
		over, err := o.Over.readOver(ctx, "a cluster", "drop --live to ask the snapshot")
		if err != nil {
			return nil, err
		}
		outcomes, problems = append(outcomes, over.outcomes...), append(problems, over.problems...)
	}
	return settle(o.Over, &model.Cluster{Context: o.Context, Kinds: r.served, Gaps: r.gaps()}, outcomes, problems), nil
}

// liveReader is one reading of a cluster.
type liveReader struct {
	server *Server
	o      LiveOptions
	limits Limits
	seats  chan struct{}

	asked     map[model.GroupKind]bool // kinds that were listed
	bones     map[model.GroupKind]bool // kinds of which no more is kept than targets need
	served    []model.ServedKind
	outcomes  []outcome
	failed    []model.Problem // beside those of objects and of refused lists
	forbidden map[model.GroupKind]*refusal
}

func (r *liveReader) run(ctx context.Context) error {
	var err error
	if r.served, err = r.server.kinds(ctx); r.served == nil && err != nil {
		return err
	}
	if err := r.missing(err); err != nil {
		return err
	}
	if !r.o.Bare && !slices.ContainsFunc(r.served, func(k model.ServedKind) bool { return k.Group == gatewayGroup || r.o.After[k.GroupKind] != nil }) {
		return errNoGatewayAPI
	}
	var first []*model.ServedKind
	for i := range r.served {
		if k := &r.served[i]; slices.Contains(r.o.Kinds, k.GroupKind) && !isSecretKind(k.GroupKind) {
			first = append(first, k)
		}
	}
	if err := r.everywhere(ctx, first, r.definitions()); err != nil {
		return err
	}
	if err := r.everywhere(ctx, r.after(), nil); err != nil {
		return err
	}
	for {
		if err := r.follow(ctx); err != nil {
			return err
		}
		before := len(r.outcomes)
		if err := r.nearby(ctx); err != nil {
			return err
		}
		if len(r.outcomes) == before {
			break
		}
	}
	if len(r.forbidden) > 0 && len(r.outcomes) == 0 {
		return errNothingAllowed
	}
	return nil
}

// after are the kinds that are read because of objects that were, or that may not be read.
func (r *liveReader) after() []*model.ServedKind {
	wanted := map[model.GroupKind]bool{}
	note := func(by model.GroupKind) {
		for _, gk := range r.o.After[by] {
			wanted[gk] = true
		}
	}
	for _, out := range r.outcomes {
		for _, o := range out.objects {
			note(o.Ref.GroupKind())
		}
	}
	for gk := range r.forbidden {
		note(gk)
	}
	var out []*model.ServedKind
	for i := range r.served {
		if k := &r.served[i]; wanted[k.GroupKind] && !r.asked[k.GroupKind] {
			out = append(out, k)
		}
	}
	return out
}

var errNothingAllowed = errors.New("not one list may be read (Forbidden)")

// missing notes the groups that the server names and does not serve now. It is an error if kinds are wanted of one of them, or the kinds that
// every server has are not there: what is not read would be taken for absent.
func (r *liveReader) missing(failure error) error {
	core := func(k model.ServedKind) bool { return k.Group == "" && k.Kind == namespaceKind }
	if !slices.ContainsFunc(r.served, core) {
		return errors.Join(errors.New("the server does not say that it serves Namespaces"), failure)
	}
	var failed *discovery.ErrGroupDiscoveryFailed
	if !errors.As(failure, &failed) {
		return failure
	}
	p := model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: "some groups of the API are not served now, their kinds are taken for absent: " + failure.Error()}
	for version := range failed.Groups {
		if slices.ContainsFunc(r.o.Kinds, func(gk model.GroupKind) bool { return gk.Group == version.Group }) {
			return failure
		}
		if r.unexplained(model.ServedKind{GroupKind: model.GroupKind{Group: version.Group}}) {
			p.Severity = model.Warning
		}
	}
	r.failed = append(r.failed, p)
	return nil
}

var errNoGatewayAPI = errors.New("the cluster serves no Gateway API: there is no kind of " + gatewayGroup)

func isSecretKind(gk model.GroupKind) bool { return gk.Group == "" && gk.Kind == secretKind }

// follow lists what the objects that were read point at: policy kinds that are defined, and kinds that policies target, until there is
// nothing new.
func (r *liveReader) follow(ctx context.Context) error {
	for {
		policies, targets := r.discovered()
		if len(policies)+len(targets) == 0 {
			return nil
		}
		if err := r.everywhere(ctx, policies, nil); err != nil {
			return err
		}
		if err := r.everywhere(ctx, targets, nil); err != nil {
			return err
		}
	}
}

// everywhere lists the objects of kinds in all namespaces, and the definitions of policy kinds if that is wanted.
func (r *liveReader) everywhere(ctx context.Context, kinds []*model.ServedKind, definitions *model.ServedKind) error {
	jobs := make([]job, 0, len(kinds)+1)
	for _, k := range kinds {
		r.asked[k.GroupKind] = true
		jobs = append(jobs, job{kind: k})
	}
	if definitions != nil {
		jobs = append(jobs, job{kind: definitions, keep: r.matters})
	}
	return r.all(ctx, jobs, func(j job) { r.refuse(j.kind, "") })
}

// definitions is the kind of CustomResourceDefinitions if they have to be looked at: some kind served is neither known nor one of
// Kubernetes' own, or is read as its definition says.
func (r *liveReader) definitions() *model.ServedKind {
	if !r.otherKinds() && !slices.ContainsFunc(r.served, r.undecided) {
		return nil
	}
	i := slices.IndexFunc(r.served, func(k model.ServedKind) bool { return k.GroupKind == model.DefinitionKind() })
	if i < 0 {
		return nil
	}
	return &r.served[i]
}

// otherKinds reports whether definitions may tell of policy kinds that are asked about and not known.
func (r *liveReader) otherKinds() bool {
	return r.o.Policies != nil && slices.ContainsFunc(r.served, r.unexplained)
}

func (r *liveReader) undecided(k model.ServedKind) bool {
	return slices.Contains(r.o.Undecided, k.GroupKind)
}

// matters reports whether a definition is kept.
func (r *liveReader) matters(definition *model.Object) bool {
	gk, _ := definition.Defines()
	return slices.Contains(r.o.Undecided, gk) || r.o.Policies != nil && r.o.Policies(definition)
}

func (r *liveReader) unexplained(k model.ServedKind) bool {
	return strings.Contains(k.Group, ".") && !strings.HasSuffix(k.Group, ".k8s.io") && !slices.Contains(r.o.Kinds, k.GroupKind)
}

// discovered are the kinds that the objects read so far point at and that are not read yet: those whose definitions say that they are
// policies, and those that policies target.
func (r *liveReader) discovered() (policies, targets []*model.ServedKind) {
	defined, targeted := map[model.GroupKind]bool{}, map[model.GroupKind]bool{}
	if refused := r.forbidden[model.DefinitionKind()]; refused != nil {
		for _, k := range r.served {
			defined[k.GroupKind] = r.unexplained(k) && strings.HasSuffix(k.Kind, "Policy")
		}
	}
	for _, out := range r.outcomes {
		for _, o := range out.objects {
			if gk, ok := o.Defines(); ok {
				defined[gk] = true
			}
			targetKinds(o, targeted)
		}
	}
	for i := range r.served {
		switch k := &r.served[i]; {
		case r.asked[k.GroupKind] || isSecretKind(k.GroupKind):
		case defined[k.GroupKind]:
			policies = append(policies, k)
		case targeted[k.GroupKind]:
			r.bones[k.GroupKind] = true
			targets = append(targets, k)
		}
	}
	return policies, targets
}

// targetKinds adds the kinds that o, if it is a policy, names as its targets.
func targetKinds(o *model.Object, to map[model.GroupKind]bool) {
	add := func(ref model.Body) {
		if kind := ref.Field("kind").Text(); kind != "" {
			group, _, _ := strings.Cut(ref.Field("group").Text(), "/")
			to[model.GroupKind{Group: group, Kind: kind}] = true
		}
	}
	spec := o.Body.At("spec")
	add(spec.At("targetRef"))
	for _, field := range []string{"targetRefs", "targetSelectors"} {
		for _, ref := range spec.At(field).Items {
			add(ref)
		}
	}
}

// liveError is why a cluster could not be read, and what to do about it.
func liveError(ctx context.Context, name string, err error) error {
	e := &Error{What: "reading cluster " + name, Err: err}
	var listing *listError
	var request *url.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNoGatewayAPI):
		e.Hint = "install its CRDs (gateway-api.sigs.k8s.io), choose another cluster with --context, or read manifests with -f"
	case apierrors.IsUnauthorized(err):
		e.Err, e.Hint = errors.New("you must be logged in to the server (Unauthorized)"), "renew the credentials of the context, or choose another with --context"
	case errors.Is(err, errNothingAllowed), apierrors.IsForbidden(err):
		e.Hint = "ask for the permission; docs/rbac.yaml has all that are needed"
	case errors.As(err, &request) && !errors.As(err, &listing):
		e.Err = fmt.Errorf("the server %s cannot be reached: %w", serverOf(request), request.Err)
		e.Hint = "check the kubeconfig's server, or choose another with --context; manifests are read with -f"
	case errors.As(err, &listing):
		e.Hint = "nothing is answered from a part of a list; try again, or see the requests with -v 6"
	default:
		e.Hint = "check the kubeconfig's server, or choose another with --context; manifests are read with -f"
	}
	return e
}

// serverOf is the address that a request went to, without its path.
func serverOf(request *url.Error) string {
	u, err := url.Parse(request.URL)
	if err != nil {
		return request.URL
	}
	return u.Scheme + "://" + u.Host
}

// listError is a list that failed.
type listError struct {
	what string
	err  error
}

func (e *listError) Error() string { return fmt.Sprintf("listing %s: %s", e.what, e.err) }
func (e *listError) Unwrap() error { return e.err }
