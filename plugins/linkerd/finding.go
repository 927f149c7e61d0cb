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

func findings() []plugin.Finding {
	return []plugin.Finding{{Rule: voidPolicy}, {Rule: serversOverlap}, {Rule: unusedAuthentication, Find: unused}, {Rule: openAccess, Find: opened},
		{Rule: lostTimeouts, Find: replaced}}
}

// idle reports annotations that are not read as they seem to be.
func idle(in *model.Snapshot, w *world) []model.Problem {
	var out []model.Problem
	say := func(o *model.Object, format string, args ...any) {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.AnnotationIgnored, Message: fmt.Sprintf(format, args...)}.At(o))
	}
	inward := func(o *model.Object, notes map[string]string) {
		if word, ok := notes[defaultPolicyNote]; ok && !slices.Contains(policyWords, word) {
			say(o, "annotation %s: %q is no policy, and is ignored", defaultPolicyNote, word)
		}
		for _, key := range []string{opaquePortsNote, requireIdentityNote} {
			if _, err := parsePorts(notes[key]); err != nil {
				say(o, "annotation %s: %v, and the list as a whole is ignored", key, err)
			}
		}
	}
	for _, load := range w.workloads {
		inward(load.object, load.notes)
	}
	for _, o := range in.Of(namespaceKind) {
		inward(o, o.Annotations)
	}
	for _, gk := range []model.GroupKind{serviceKind, egressKind} {
		for _, o := range in.Of(gk) {
			if !outwards(o) {
				continue
			}
			for _, grpc := range []bool{false, true} {
				if b := blocksOf(o, grpc); b.bad != nil {
					say(o, "annotation %v; its block is left out", b.bad)
					break
				}
			}
			if keys := inert(o.Annotations); keys != nil {
				say(o, "annotation %s means nothing without %s, or with the mode that it has", strings.Join(keys, ", "), accrualNote)
			}
			if gk == egressKind && bias(o.Annotations) != nil {
				say(o, "load balancing has no effect on an EgressNetwork")
			}
		}
	}
	return out
}

// unused reports authentications that no authorization requires.
func unused(r *resolve.Resolution) []model.Problem {
	used := map[model.Ref]bool{}
	for _, o := range r.Snapshot.Of(authorizationKind) {
		for _, e := range o.Body.At("spec", "requiredAuthenticationRefs").Items {
			for _, gk := range []model.GroupKind{meshTLSKind, networkKind} {
				if ref := readReference(e, ""); ref.is(gk) {
					used[ref.in(gk, o.Ref.Namespace)] = true
				}
			}
		}
	}
	var out []model.Problem
	if r.Snapshot.Cluster.MissesAny(authorizationKind) {
		return nil
	}
	for _, gk := range []model.GroupKind{meshTLSKind, networkKind} {
		for _, o := range r.Snapshot.Of(gk) {
			if !used[o.Ref] {
				out = append(out, unusedAuthentication.Problem("no AuthorizationPolicy requires it").At(o))
			}
		}
	}
	return out
}

// opened reports Servers whose accessPolicy grants more than the authorizations beside it.
func opened(r *resolve.Resolution) []model.Problem {
	if len(r.Snapshot.Of(serverKind)) == 0 {
		return nil
	}
	w := readWorld(r.Snapshot, r.Settings)
	var out []model.Problem
	for _, o := range r.Snapshot.Of(serverKind) {
		v := w.byObject[o]
		word, grants := w.word(v.access())
		if !grants {
			continue
		}
		var names []string
		for _, p := range slices.Concat(r.Snapshot.Of(authorizationKind), r.Snapshot.Of(oldAuthorizationKind)) {
			old := p.Ref.GroupKind() == oldAuthorizationKind
			if old && slices.Contains(w.serversForOld(p), v) || !old && slices.Contains(w.serversFor(p), v) {
				g := w.authorization(p)
				if old {
					g = w.oldAuthorization(p)
				}
				if g.void == "" && word.covers(g) {
					names = append(names, p.Ref.FullName())
				}
			}
		}
		if names != nil {
			out = append(out, openAccess.Problem("accessPolicy %s lets in whoever %s would let in, and others", v.access(), strings.Join(names, ", ")).At(o, "spec", "accessPolicy"))
		}
	}
	return out
}

// covers reports whether a grant of an accessPolicy is wider than another one.
func (g *grant) covers(o grant) bool {
	return len(g.identities) == 0 && (o.identities != nil || o.anyTLS || !universal(o.networks)) && universal(g.networks) ||
		len(g.identities) > 0 && o.identities != nil && !slices.Contains(o.identities, "*") && universal(g.networks)
}

// replaced reports routes whose timeouts take more of their parent's out than they set.
func replaced(r *resolve.Resolution) []model.Problem {
	if !present(r.Snapshot, r.Settings) {
		return nil
	}
	w := readOutbound(r.Snapshot, readSettings(r.Settings))
	var out []model.Problem
	for _, parent := range w.order {
		of := blocksOf(parent, false).timeouts
		for _, route := range w.routes[parent] {
			own := blocksOf(route, false).timeouts
			var lost []string
			for _, name := range []string{"request", "response", "idle"} {
				if of[name] != nil && own[name] == nil && own != nil {
					lost = append(lost, name)
				}
			}
			if lost != nil {
				out = append(out, lostTimeouts.Problem("its timeout annotations replace those of %s as a whole: without %s", parent.Ref, strings.Join(lost, " and ")).At(route))
			}
		}
	}
	return out
}
