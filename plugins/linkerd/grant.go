package linkerd

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// everywhere are the networks of a grant that names none.
var everywhere = []string{"0.0.0.0/0", "::/0"}

// grant is what lets clients in: both its networks and its identities have to fit.
type grant struct {
	policy     *model.Object // nil: no policy says so
	networks   []network
	identities []string // nil: anybody; of ServerAuthorizations an empty list is somebody with TLS
	anyTLS     bool     // whoever speaks TLS, with an identity or without
	voidReason string   // why it grants nothing
	missing    string   // it is void because of this, which is not in the input
}

// network is a CIDR with exceptions.
type network struct {
	cidr   string
	except []string
}

// String writes a network for people.
func (n network) String() string {
	if len(n.except) == 0 {
		return n.cidr
	}
	return n.cidr + " except " + strings.Join(n.except, " ")
}

func toNetworks(texts []string) []network {
	out := make([]network, len(texts))
	for i, t := range texts {
		out[i] = network{cidr: t}
	}
	return out
}

// readNetworks reads a list of networks; bad is the first that cannot be read.
func readNetworks(list model.Body) (out []network, bad string) {
	for _, e := range list.Items {
		n := network{cidr: e.Text("cidr")}
		p, ok := parsePrefix(n.cidr)
		if !ok {
			return nil, n.cidr
		}
		if !strings.Contains(n.cidr, "/") {
			n.cidr = p.String()
		}
		for _, x := range e.Field("except").Items {
			if _, ok := parsePrefix(x.Text()); !ok {
				return nil, x.Text()
			}
			n.except = append(n.except, x.Text())
		}
		out = append(out, n)
	}
	return out, ""
}

// printedValue is a grant as it is printed.
func (g *grant) printedValue() map[string]any {
	nets := make([]any, len(g.networks))
	for i, n := range g.networks {
		nets[i] = n.String()
	}
	out := map[string]any{"networks": nets}
	if g.identities != nil {
		ids := make([]any, len(g.identities))
		for i, id := range g.identities {
			ids[i] = id
		}
		out["identities"] = ids
	}
	if g.anyTLS {
		out["unauthenticatedTLS"] = true
	}
	return out
}

// readAuthorization reads an AuthorizationPolicy (IX policy_client_authz): one authentication that
// is missing, unreadable or of a sort that is there already voids it as a whole.
func (w *meshIndex) readAuthorization(o *model.Object) grant {
	g := grant{policy: o}
	who, nets := 0, 0
	for _, e := range o.Body.At("spec", "requiredAuthenticationRefs").Items {
		switch r := readReference(e, ""); {
		case r.isKind(serviceAccountKind):
			who++
			ref := r.resolveRef(serviceAccountKind, o.Ref.Namespace)
			g.identities = append(g.identities, w.settings.serviceAccountIdentity(ref.Namespace, ref.Name))
		case r.isKind(meshTLSKind):
			who++
			ref := r.resolveRef(meshTLSKind, o.Ref.Namespace)
			g.identities = append(g.identities, w.readIdentities(ref, &g)...)
		case r.isKind(networkKind):
			nets++
			ref := r.resolveRef(networkKind, o.Ref.Namespace)
			auth := w.in.Get(ref)
			if auth == nil {
				g.setMissing(ref)
				continue
			}
			list, bad := readNetworks(auth.Body.At("spec", "networks"))
			if g.networks = append(g.networks, list...); bad != "" || len(list) == 0 {
				g.setVoid("%s has no networks that can be read", ref)
			}
		default:
			g.setVoid("%s of group %q is no authentication", r.kind, r.group)
		}
	}
	switch {
	case who > 1:
		g.setVoid("it asks for %d identities, and can ask for one", who)
	case nets > 1:
		g.setVoid("it asks for %d NetworkAuthentications, and can ask for one", nets)
	}
	if nets == 0 {
		g.networks = toNetworks(everywhere)
	}
	return g
}

// setMissing notes an authentication that is not in the input.
func (g *grant) setMissing(ref model.Ref) {
	if g.missing == "" {
		g.missing = ref.String()
	}
	g.setVoid("%s does not exist", ref)
}

func (g *grant) setVoid(format string, args ...any) {
	if g.voidReason == "" {
		g.voidReason = fmt.Sprintf(format, args...)
	}
}

// readIdentities are the identities of a MeshTLSAuthentication.
func (w *meshIndex) readIdentities(ref model.Ref, g *grant) []string {
	o := w.in.Get(ref)
	if o == nil {
		g.setMissing(ref)
		return nil
	}
	var out []string
	for _, id := range o.Body.At("spec", "identities").Items {
		out = append(out, id.Text())
	}
	for _, e := range o.Body.At("spec", "identityRefs").Items {
		switch r := readReference(e, ""); {
		case r.isKind(serviceAccountKind):
			of := r.resolveRef(serviceAccountKind, ref.Namespace)
			out = append(out, w.settings.serviceAccountIdentity(of.Namespace, of.Name))
		case r.isKind(namespaceKind):
			out = append(out, w.settings.serviceAccountIdentity(r.name, "*"))
		default:
			g.setVoid("%s has a reference to %s, which has no identity", ref, r.kind)
		}
	}
	if len(out) == 0 {
		g.setVoid("%s has no identities", ref)
	}
	return out
}

// readOldAuthorization reads a ServerAuthorization (IX server_authorization.rs): without networks
// it is for those of the cluster.
func (w *meshIndex) readOldAuthorization(o *model.Object) grant {
	g := grant{policy: o, networks: toNetworks(w.settings.cluster)}
	client := o.Body.At("spec", "client")
	if list := client.Field("networks"); list.IsList() {
		var bad string
		if g.networks, bad = readNetworks(list); bad != "" {
			g.setVoid("%q is no network", bad)
		}
	}
	unauthenticated, _ := client.Field("unauthenticated").Value().(bool)
	tls := client.Field("meshTLS")
	anyTLS, _ := tls.Field("unauthenticatedTLS").Value().(bool)
	switch {
	case unauthenticated:
		return g
	case anyTLS:
		g.anyTLS = true
		return g
	}
	for _, id := range tls.Field("identities").Items {
		g.identities = append(g.identities, id.Text())
	}
	for _, sa := range tls.Field("serviceAccounts").Items {
		ns := sa.Text("namespace")
		if ns == "" {
			ns = o.Ref.Namespace
		}
		g.identities = append(g.identities, w.settings.serviceAccountIdentity(ns, sa.Text("name")))
	}
	if len(g.identities) == 0 {
		g.setVoid("its client is neither unauthenticated nor has identities")
	}
	return g
}

// grantOfWord is the grant of an accessPolicy, or of the default of a port; false if it grants
// nothing.
func (w *meshIndex) grantOfWord(word string) (grant, bool) {
	g := grant{networks: toNetworks(everywhere)}
	if strings.HasPrefix(word, "cluster-") {
		g.networks = toNetworks(w.settings.cluster)
	}
	if strings.HasSuffix(word, "-authenticated") {
		g.identities = []string{"*"}
	}
	return g, word != deny
}
