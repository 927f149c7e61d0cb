package linkerd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// What is found of Linkerd's alone.
var (
	voidPolicy = model.Rule{ID: "AuthorizationIsVoid", Severities: []model.Severity{model.Warning},
		Summary: "an authorization grants nothing, because an authentication that it requires is missing or cannot be used",
		Fix:     "create the authentication, correct the reference, or require one of each sort only"}
	serversOverlap = model.Rule{ID: "ServersOverlap", Severities: []model.Severity{model.Warning},
		Summary: "two Servers select the same port of the same workloads; the older one governs it, and the other one is ignored there",
		Fix:     "give one of them another port or selector, or delete it"}
	unusedAuthentication = model.Rule{ID: "AuthenticationUnused", Severities: []model.Severity{model.Info},
		Summary: "no authorization requires an authentication: it has no effect",
		Fix:     "name it in the requiredAuthenticationRefs of an AuthorizationPolicy, or delete it"}
	openAccess = model.Rule{ID: "AccessPolicyOpens", Severities: []model.Severity{model.Warning},
		Summary: "the accessPolicy of a Server lets clients in that its authorizations do not: it is one grant more, and not what holds where there are none",
		Fix:     "set accessPolicy to deny, or delete the authorizations"}
	lostTimeouts = model.Rule{ID: "TimeoutsReplaced", Severities: []model.Severity{model.Warning},
		Summary: "a timeout of a route takes all timeouts of its parent out, also those that the route does not set",
		Fix:     "repeat on the route what should stay"}
)

func listFindings() []plugin.Finding {
	return []plugin.Finding{{Rule: voidPolicy}, {Rule: serversOverlap}, {Rule: unusedAuthentication,
		Find: findUnusedAuthentications}, {Rule: openAccess, Find: findOpenServers},
		{Rule: lostTimeouts, Find: findReplacedTimeouts}, {Rule: probesDenied, Find: findDeniedProbes}}
}

// findIdleAnnotations reports annotations that are not read as they seem to be.
func findIdleAnnotations(in *model.Snapshot, w *meshIndex) []model.Problem {
	var out []model.Problem
	say := func(o *model.Object, format string, args ...any) {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.AnnotationIgnored,
			Message: fmt.Sprintf(format, args...)}.At(o))
	}
	inward := func(o *model.Object, notes map[string]string) {
		if word, ok := notes[defaultPolicyAnnotation]; ok && !slices.Contains(policyWords, word) {
			say(o, "annotation %s: %q is no policy, and is ignored", defaultPolicyAnnotation, word)
		}
		for _, key := range []string{opaquePortsAnnotation, requireIdentityAnnotation} {
			if _, err := parsePorts(notes[key]); err != nil {
				say(o, "annotation %s: %v, and the list as a whole is ignored", key, err)
			}
		}
	}
	for _, load := range w.workloads {
		inward(load.object, load.annotations)
	}
	for _, o := range in.OfKind(namespaceKind) {
		inward(o, o.Annotations)
	}
	for _, gk := range []model.GroupKind{serviceKind, egressKind} {
		for _, o := range in.OfKind(gk) {
			if !hasOutboundAnnotations(o) {
				continue
			}
			for _, grpc := range []bool{false, true} {
				if b := readBlocks(o, grpc); b.err != nil {
					say(o, "annotation %v; its block is left out", b.err)
					break
				}
			}
			if keys := findInert(o.Annotations); keys != nil {
				say(o, "annotation %s means nothing without %s, or with the mode that it has",
					strings.Join(keys, ", "), accrualAnnotation)
			}
			if gk == egressKind && readLoadBias(o.Annotations) != nil {
				say(o, "load balancing has no effect on an EgressNetwork")
			}
		}
	}
	return out
}

// findUnusedAuthentications reports authentications that no authorization requires.
func findUnusedAuthentications(r *resolve.Resolution) []model.Problem {
	used := map[model.Ref]bool{}
	for _, o := range r.Snapshot.OfKind(authorizationKind) {
		for _, e := range o.Body.At("spec", "requiredAuthenticationRefs").Items {
			for _, gk := range []model.GroupKind{meshTLSKind, networkKind} {
				if ref := readReference(e, ""); ref.isKind(gk) {
					used[ref.resolveRef(gk, o.Ref.Namespace)] = true
				}
			}
		}
	}
	var out []model.Problem
	if r.Snapshot.Cluster.HasUnread(authorizationKind) {
		return nil
	}
	for _, gk := range []model.GroupKind{meshTLSKind, networkKind} {
		for _, o := range r.Snapshot.OfKind(gk) {
			if !used[o.Ref] {
				out = append(out, unusedAuthentication.NewProblem("no AuthorizationPolicy requires it").At(o))
			}
		}
	}
	return out
}

// findOpenServers reports Servers whose accessPolicy grants more than the authorizations beside it.
func findOpenServers(r *resolve.Resolution) []model.Problem {
	if len(r.Snapshot.OfKind(serverKind)) == 0 {
		return nil
	}
	w := buildMeshIndex(r.Snapshot, r.Settings)
	var out []model.Problem
	for _, o := range r.Snapshot.OfKind(serverKind) {
		v := w.byObject[o]
		word, grants := w.grantOfWord(v.accessPolicy())
		if !grants {
			continue
		}
		var names []string
		for _, p := range slices.Concat(r.Snapshot.OfKind(authorizationKind), r.Snapshot.OfKind(oldAuthorizationKind)) {
			old := p.Ref.GroupKind() == oldAuthorizationKind
			if old && slices.Contains(w.findServersOfOld(p), v) || !old && slices.Contains(w.findServers(p), v) {
				g := w.readAuthorization(p)
				if old {
					g = w.readOldAuthorization(p)
				}
				if g.voidReason == "" && word.isWiderThan(g) {
					names = append(names, p.Ref.FullName())
				}
			}
		}
		if names != nil {
			out = append(out, openAccess.NewProblem("accessPolicy %s lets in whoever %s would let in, and others",
				v.accessPolicy(), strings.Join(names, ", ")).At(o, "spec", "accessPolicy"))
		}
	}
	return out
}

// isWiderThan reports whether a grant of an accessPolicy is wider than another one.
func (g *grant) isWiderThan(o grant) bool {
	return len(g.identities) == 0 && (o.identities != nil || o.anyTLS || !isUniversal(o.networks)) &&
		isUniversal(g.networks) ||
		len(g.identities) > 0 && o.identities != nil && !slices.Contains(o.identities, "*") && isUniversal(g.networks)
}

// findReplacedTimeouts reports routes whose timeouts take more of their parent's out than they set.
func findReplacedTimeouts(r *resolve.Resolution) []model.Problem {
	if !isPresent(r.Snapshot, r.Settings) {
		return nil
	}
	w := readOutbound(r.Snapshot, readSettings(r.Settings))
	var out []model.Problem
	for _, parent := range w.order {
		of := readBlocks(parent, false).timeouts
		for _, route := range w.routes[parent] {
			own := readBlocks(route, false).timeouts
			var lost []string
			for _, name := range []string{"request", "response", "idle"} {
				if of[name] != nil && own[name] == nil && own != nil {
					lost = append(lost, name)
				}
			}
			if lost != nil {
				out = append(out,
					lostTimeouts.NewProblem("its timeout annotations replace those of %s as a whole: without %s",
						parent.Ref, strings.Join(lost, " and ")).At(route))
			}
		}
	}
	return out
}
