package others

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

const gatewayGroup = "gateway.networking.k8s.io"

// addToGraph registers which Secrets and ConfigMaps controllers make of other objects: they are
// missing from manifests, and not from the cluster.
func addToGraph(b *build.Builder) { b.AddMaker(findGenerated) }

func findGenerated(in *model.Snapshot, made func(object, by model.Ref)) {
	for _, m := range generators {
		for _, o := range in.OfKind(m.of) {
			to := model.Ref{Kind: m.kind, Namespace: o.Ref.Namespace, Name: o.Body.At(m.at...).Text()}
			if to.Name == "" {
				to.Name = o.Ref.Name
			}
			if m.everywhere {
				to.Namespace = ""
			}
			made(to, o.Ref)
			if isCopied(o.Body.At(m.template...)) {
				made(model.Ref{Kind: m.kind, Name: to.Name}, o.Ref)
			}
		}
	}
	for _, kind := range []string{"Secret", "ConfigMap"} {
		for _, o := range in.OfKind(model.GroupKind{Kind: kind}) {
			if isCopied(o.Body.Field("metadata")) {
				made(model.Ref{Kind: kind, Name: o.Ref.Name}, o.Ref)
			}
		}
	}
	for _, gk := range []model.GroupKind{{Group: gatewayGroup, Kind: "Gateway"},
		{Group: gatewayGroup, Kind: "ListenerSet"}, {Group: "gateway.networking.x-k8s.io", Kind: "XListenerSet"}} {
		for _, o := range in.OfKind(gk) {
			if hasIssuer(o) {
				eachListenerCertificate(o, func(to model.Ref) { made(to, o.Ref) })
			}
		}
	}
	for _, o := range in.OfKind(model.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}) {
		if !hasIssuer(o) && o.Annotations["kubernetes.io/tls-acme"] != "true" {
			continue
		}
		for _, block := range o.Body.At("spec", "tls").Items {
			if name := block.Text("secretName"); name != "" && block.Field("hosts").Len() > 0 {
				made(model.Ref{Kind: "Secret", Namespace: o.Ref.Namespace, Name: name}, o.Ref)
			}
		}
	}
}

// generators are the kinds whose objects make one Secret or ConfigMap each.
var generators = []struct {
	of         model.GroupKind
	kind       string
	at         []string // where its name stands; without one there, it is called as the object
	template   []string // where its metadata stand
	everywhere bool     // in many namespaces
}{
	{of: model.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}, kind: "Secret",
		at: []string{"spec", "secretName"}, template: []string{"spec", "secretTemplate"}},
	{of: model.GroupKind{Group: "trust.cert-manager.io", Kind: "Bundle"}, kind: "ConfigMap",
		at: []string{"metadata", "name"}, everywhere: true},
	{of: model.GroupKind{Group: "external-secrets.io", Kind: "ExternalSecret"}, kind: "Secret",
		at: []string{"spec", "target", "name"}, template: []string{"spec", "target", "template", "metadata"}},
	{of: model.GroupKind{Group: "external-secrets.io", Kind: "ClusterExternalSecret"}, kind: "Secret",
		at: []string{"spec", "externalSecretSpec", "target", "name"}, everywhere: true},
	{of: model.GroupKind{Group: "bitnami.com", Kind: "SealedSecret"}, kind: "Secret", at: []string{"metadata", "name"},
		template: []string{"spec", "template", "metadata"}},
	{of: model.GroupKind{Group: "onepassword.com", Kind: "OnePasswordItem"}, kind: "Secret",
		at: []string{"metadata", "name"}},
	{of: model.GroupKind{Group: "secrets.hashicorp.com", Kind: "VaultStaticSecret"}, kind: "Secret",
		at: []string{"spec", "destination", "name"}},
	{of: model.GroupKind{Group: "secrets.hashicorp.com", Kind: "VaultDynamicSecret"}, kind: "Secret",
		at: []string{"spec", "destination", "name"}},
	{of: model.GroupKind{Group: "secrets.hashicorp.com", Kind: "VaultPKISecret"}, kind: "Secret",
		at: []string{"spec", "destination", "name"}},
}

// isCopied reports whether the metadata of an object have it copied to other namespaces.
func isCopied(metadata model.Body) bool {
	annotations := metadata.Field("annotations")
	return annotations.Text("reflector.v1.k8s.emberstack.com/reflection-auto-enabled") == "true" ||
		annotations.Text("replicator.v1.mittwald.de/replicate-to") != "" ||
		annotations.Text("replicator.v1.mittwald.de/replicate-to-matching") != ""
}

// hasIssuer reports whether annotations of an object have cert-manager make certificates for it.
func hasIssuer(o *model.Object) bool {
	for _, key := range []string{"cert-manager.io/issuer", "cert-manager.io/cluster-issuer"} {
		if _, there := o.Annotations[key]; there {
			return true
		}
	}
	return false
}

// eachListenerCertificate calls made for the Secrets that cert-manager makes for the listeners of
// an object: of each that ends TLS for a hostname, and has all of them in its own namespace.
func eachListenerCertificate(o *model.Object, made func(model.Ref)) {
	ignored := strings.Split(o.Annotations["cert-manager.io/ignore-tls-listeners"], ",")
	for _, l := range o.Body.At("spec", "listeners").Items {
		mode := l.At("tls", "mode").Text()
		skip := slices.ContainsFunc(ignored,
			func(name string) bool { return strings.TrimSpace(name) == l.Text("name") && l.Text("name") != "" })
		if skip || l.Text("hostname") == "" || mode != "" && mode != "Terminate" {
			continue
		}
		var refs []model.Ref
		for _, r := range l.At("tls", "certificateRefs").Items {
			if ns, kind, group := r.Text("namespace"), r.Text("kind"), r.Text("group"); ns != "" &&
				ns != o.Ref.Namespace || kind != "" && kind != "Secret" || group != "" {
				refs = nil
				break
			}
			refs = append(refs, model.Ref{Kind: "Secret", Namespace: o.Ref.Namespace, Name: r.Text("name")})
		}
		for _, to := range refs {
			made(to)
		}
	}
}
