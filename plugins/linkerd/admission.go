package linkerd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// admissionProblems repeats what the admission webhook says to objects (AD): what it refuses is
// reported, and evaluated as the controller's index reads it.
func admissionProblems(in *model.Snapshot, w *meshIndex) []model.Problem {
	var out []model.Problem
	for _, judge := range []struct {
		kind  model.GroupKind
		fault func(o *model.Object, spec model.Body) string
	}{
		{authorizationKind, checkAuthorization}, {rateLimitKind, checkRateLimit}, {meshTLSKind,
			checkMeshTLS}, {networkKind, checkNetworkAuthentication}, {egressKind, checkEgressNetwork},
		{oldAuthorizationKind, checkOldAuthorization}, {httpRouteKind, checkRoute}, {grpcRouteKind,
			checkRoute}, {tlsRouteKind, checkRoute}, {tcpRouteKind, checkRoute},
		{ownRouteKind, checkRoute},
	} {
		for _, o := range in.OfKind(judge.kind) {
			if why := judge.fault(o, o.Body.Field("spec")); why != "" {
				out = append(out, model.Problem{Severity: model.Warning, Code: model.InvalidObject,
					Message: "the admission webhook refuses it: " + why}.At(o))
			}
		}
	}
	return append(out, findOverlappingServers(in, w)...)
}

func checkAuthorization(o *model.Object, spec model.Body) string {
	target := readReference(spec.Field("targetRef"), "")
	switch _, ok := findTarget(o); {
	case !ok:
		return "a " + target.kind + " cannot be a target"
	case target.isKind(namespaceKind) && target.name != o.Ref.Namespace:
		return "Namespace " + target.name + " is not its own"
	}
	count := map[model.GroupKind]int{}
	for _, e := range spec.Field("requiredAuthenticationRefs").Items {
		r := readReference(e, "")
		known := false
		for _, gk := range []model.GroupKind{meshTLSKind, serviceAccountKind, networkKind} {
			if r.isKind(gk) {
				known = true
				count[gk]++
			}
		}
		if !known {
			return "a " + r.kind + " is no authentication"
		}
	}
	switch {
	case count[meshTLSKind]+count[serviceAccountKind] > 1:
		return "at most one MeshTLSAuthentication or ServiceAccount can be required"
	case count[networkKind] > 1:
		return "at most one NetworkAuthentication can be required"
	}
	return ""
}

func checkRateLimit(_ *model.Object, spec model.Body) string {
	if r := readReference(spec.Field("targetRef"), ""); !r.isKind(serverKind) {
		return "a " + r.kind + " cannot be a target, only a Server"
	}
	rate := func(b model.Body) (n int64, there bool) {
		n, _ = b.Field("requestsPerSecond").Value().(int64)
		return n, b.IsObject()
	}
	total, capped := rate(spec.Field("total"))
	check := func(what string, b model.Body) string {
		switch n, there := rate(b); {
		case there && n <= 0:
			return what + " has to be more than 0 requests"
		case there && capped && n > total:
			return what + " is above total"
		}
		return ""
	}
	for _, name := range []string{"total", "identity"} {
		if why := check(name, spec.Field(name)); why != "" {
			return why
		}
	}
	for i, e := range spec.Field("overrides").Items {
		if why := check(fmt.Sprintf("overrides[%d]", i), e); why != "" {
			return why
		}
		for _, ref := range e.Field("clientRefs").Items {
			if r := readReference(ref, ""); !r.isKind(serviceAccountKind) {
				return fmt.Sprintf("a client of overrides[%d] is a %s, and has to be a ServiceAccount", i, r.kind)
			}
		}
	}
	return ""
}

func checkMeshTLS(_ *model.Object, spec model.Body) string {
	ids, refs := spec.Field("identities").Len(), spec.Field("identityRefs").Len()
	if (ids > 0) == (refs > 0) {
		return "it has to have either identities or identityRefs"
	}
	for _, e := range spec.Field("identityRefs").Items {
		switch r := readReference(e, ""); {
		case r.isKind(namespaceKind) && r.namespace != "":
			return "a reference to a Namespace cannot have a namespace"
		case !r.isKind(namespaceKind) && !r.isKind(serviceAccountKind):
			return "a " + r.kind + " has no identity"
		}
	}
	return ""
}

func checkNetworkAuthentication(_ *model.Object, spec model.Body) string {
	if spec.Field("networks").Len() == 0 {
		return "it has to have networks"
	}
	return checkNetworks(spec.Field("networks"))
}

func checkEgressNetwork(_ *model.Object, spec model.Body) string {
	if list := spec.Field("networks"); list.IsList() && list.Len() == 0 {
		return "networks is empty; without it they are all outside of the cluster"
	}
	return checkNetworks(spec.Field("networks"))
}

// checkNetworks is what is wrong with a list of networks; "": nothing.
func checkNetworks(list model.Body) string {
	for _, e := range list.Items {
		cidr, ok := parsePrefix(e.Text("cidr"))
		if !ok {
			return fmt.Sprintf("%q is no network", e.Text("cidr"))
		}
		for _, x := range e.Field("except").Items {
			switch except, ok := parsePrefix(x.Text()); {
			case !ok:
				return fmt.Sprintf("%q is no network", x.Text())
			case containsNetwork(except, cidr):
				return "the exception " + x.Text() + " leaves nothing of " + e.Text("cidr")
			case !containsNetwork(cidr, except):
				return "the exception " + x.Text() + " is not in " + e.Text("cidr")
			}
		}
	}
	return ""
}

func checkOldAuthorization(_ *model.Object, spec model.Body) string {
	client := spec.Field("client")
	unauthenticated, _ := client.Field("unauthenticated").Value().(bool)
	tls := client.Field("meshTLS")
	anyTLS, _ := tls.Field("unauthenticatedTLS").Value().(bool)
	switch {
	case unauthenticated && tls.IsObject():
		return "client.unauthenticated goes without meshTLS"
	case anyTLS && tls.Field("identities").Len()+tls.Field("serviceAccounts").Len() > 0:
		return "unauthenticatedTLS goes without identities"
	}
	return checkNetworks(client.Field("networks"))
}

// checkRoute judges routes, also those that are not Linkerd's: the webhook sees all of them.
func checkRoute(o *model.Object, spec model.Body) string {
	outwards := false
	for i, p := range spec.Field("parentRefs").Items {
		r := readReference(p, parentGroup(o))
		outwards = outwards || r.isKind(serviceKind) || r.isKind(egressKind)
		if r.isKind(egressKind) && p.Field("port").IsNull() {
			return fmt.Sprintf("parentRefs[%d] names an EgressNetwork without a port", i)
		}
	}
	gk := o.Ref.GroupKind()
	if gk == tlsRouteKind || gk == tcpRouteKind {
		if n := spec.Field("rules").Len(); n != 1 {
			return fmt.Sprintf("it has %d rules, and has to have one", n)
		}
		return ""
	}
	if outwards {
		if err := readBlocks(o, gk == grpcRouteKind).err; err != nil {
			return err.Error()
		}
	}
	for _, rule := range spec.Field("rules").Items {
		for _, m := range rule.Field("matches").Items {
			if path := m.At("path", "value").Text(); gk != grpcRouteKind && path != "" &&
				m.Text("path", "type") != "RegularExpression" && !strings.HasPrefix(path, "/") {
				return fmt.Sprintf("path %q is not absolute", path)
			}
		}
		for _, b := range rule.Field("backendRefs").Items {
			r := readReference(b, "")
			if gk != ownRouteKind && (b.Field("kind").IsNull() && r.group == "" || r.isKind(serviceKind)) &&
				b.Field("port").IsNull() {
				return "the backend Service " + r.name + " has no port"
			}
		}
	}
	return ""
}

// findOverlappingServers reports Servers that the webhook would not let in beside others, because
// it can tell that both select a port. Where they select workloads of the input, what they lose is
// reported elsewhere.
func findOverlappingServers(in *model.Snapshot, w *meshIndex) []model.Problem {
	var out []model.Problem
	type place struct{ namespace, field, port string }
	before := map[place][]*model.Object{}
	all := slices.Clone(in.OfKind(serverKind))
	timeless := slices.ContainsFunc(all, func(o *model.Object) bool { return o.Created.IsZero() })
	slices.SortStableFunc(all, func(a, b *model.Object) int { return compareAge(a, b, timeless) })
	for _, o := range all {
		told := slices.ContainsFunc(w.workloads, w.byObject[o].selectsWorkload)
		for _, field := range []string{"podSelector", "externalWorkloadSelector"} {
			selector := o.Body.At("spec", field)
			if !selector.IsObject() {
				continue
			}
			at := place{o.Ref.Namespace, field, o.Body.At("spec", "port").String()}
			for _, other := range before[at] {
				theirs := other.Body.At("spec", field)
				if told {
					break
				}
				if selector.Len() == 0 || theirs.Len() == 0 || selector.String() == theirs.String() {
					out = append(out, model.Problem{Severity: model.Warning, Code: serversOverlap.ID,
						Hint: "give one of them another port or selector",
						Message: "Server " + other.Ref.FullName() +
							" selects the same port: the older one governs it, and the admission webhook lets no second one in"}.At(o))
					break
				}
			}
			before[at] = append(before[at], o)
		}
	}
	return out
}
