package others

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const gatewayGroup = "gateway.networking.k8s.io"

// findGenerated tells which Secrets and ConfigMaps controllers make of other objects: they are
// missing from manifests, and not from the cluster.
func findGenerated(in *model.Snapshot, made func(object, by model.Ref)) {
	for _, g := range generators {
		for _, o := range in.OfKind(model.ParseGroupKind(g.of)) {
			if g.when == nil || g.when(o) {
				g.findMade(o, made)
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

// generator is a kind whose objects make Secrets or ConfigMaps.
type generator struct {
	of   string
	kind string // of what it makes
	// where the name stands, by the first path that has one; * stands for every entry of a list.
	// Without one it is called as the object.
	names     []string
	named     bool                     // without a name there it makes nothing
	namespace string                   // where that of what it makes stands, beside the name; "": that of the object
	template  string                   // where its metadata stand, which may have it copied
	spread    bool                     // in namespaces that a selector selects
	when      func(*model.Object) bool // it makes something; nil: always
}

var generators = []generator{
	{of: "Certificate.cert-manager.io", kind: "Secret", names: []string{"spec.secretName"}, named: true,
		template: "spec.secretTemplate"},
	{of: "Issuer.cert-manager.io", kind: "Secret", names: []string{"spec.acme.privateKeySecretRef.name"}, named: true},
	{of: "Bundle.trust.cert-manager.io", kind: "ConfigMap", spread: true},
	{of: "Bundle.trust.cert-manager.io", kind: "Secret", spread: true, when: hasField("spec.target.secret")},
	{of: "ClusterBundle.trust.cert-manager.io", kind: "ConfigMap", spread: true},
	{of: "ClusterBundle.trust.cert-manager.io", kind: "Secret", spread: true},
	{of: "ExternalSecret.external-secrets.io", kind: "Secret", names: []string{"spec.target.name"},
		template: "spec.target.template.metadata"},
	{of: "ExternalSecret.external-secrets.io", kind: "ConfigMap", names: []string{"spec.target.name"},
		when: func(o *model.Object) bool { return o.Text("spec", "target", "manifest", "kind") == "ConfigMap" }},
	{of: "ClusterExternalSecret.external-secrets.io", kind: "Secret", spread: true,
		names: []string{"spec.externalSecretSpec.target.name", "spec.externalSecretName"}},
	{of: "ExternalSecret.kubernetes-client.io", kind: "Secret"},
	{of: "SealedSecret.bitnami.com", kind: "Secret", template: "spec.template.metadata"},
	{of: "SealedSecret.bitnami.com", kind: "Secret", names: []string{"spec.template.metadata.name"}, named: true},
	{of: "VaultStaticSecret.secrets.hashicorp.com", kind: "Secret", names: []string{"spec.destination.name"},
		named: true, when: isTrue("spec.destination.create")},
	{of: "VaultDynamicSecret.secrets.hashicorp.com", kind: "Secret", names: []string{"spec.destination.name"},
		named: true, when: isTrue("spec.destination.create")},
	{of: "VaultPKISecret.secrets.hashicorp.com", kind: "Secret", names: []string{"spec.destination.name"},
		named: true, when: isTrue("spec.destination.create")},
	{of: "HCPVaultSecretsApp.secrets.hashicorp.com", kind: "Secret", names: []string{"spec.destination.name"},
		named: true, when: isTrue("spec.destination.create")},
	{of: "VaultSecret.ricoberger.de", kind: "Secret"},
	{of: "OnePasswordItem.onepassword.com", kind: "Secret"},
	{of: "BitwardenSecret.k8s.bitwarden.com", kind: "Secret", names: []string{"spec.secretName"}, named: true},
	{of: "InfisicalSecret.secrets.infisical.com", kind: "Secret", names: []string{
		"spec.managedSecretReference.secretName"}, named: true, namespace: "secretNamespace"},
	{of: "InfisicalSecret.secrets.infisical.com", kind: "Secret", names: []string{
		"spec.managedKubeSecretReferences.*.secretName"}, named: true, namespace: "secretNamespace"},
	{of: "InfisicalSecret.secrets.infisical.com", kind: "ConfigMap", names: []string{
		"spec.managedKubeConfigMapReferences.*.configMapName"}, named: true, namespace: "configMapNamespace"},
	{of: "DopplerSecret.secrets.doppler.com", kind: "Secret", names: []string{"spec.managedSecret.name"}, named: true,
		namespace: "namespace"},
	{of: "SopsSecret.isindir.github.com", kind: "Secret", names: []string{"spec.secretTemplates.*.name"}, named: true},
	{of: "AzureKeyVaultSecret.spv.no", kind: "Secret", names: []string{"spec.output.secret.name"}, named: true},
	{of: "AzureKeyVaultSecret.spv.no", kind: "ConfigMap", names: []string{"spec.output.configMap.name"}, named: true},
	{of: "SecretProviderClass.secrets-store.csi.x-k8s.io", kind: "Secret", names: []string{
		"spec.secretObjects.*.secretName"}, named: true},
	{of: "StringSecret.secretgenerator.mittwald.de", kind: "Secret"},
	{of: "BasicAuth.secretgenerator.mittwald.de", kind: "Secret"},
	{of: "SSHKeyPair.secretgenerator.mittwald.de", kind: "Secret"},
	{of: "Password.secretgen.k14s.io", kind: "Secret"},
	{of: "Certificate.secretgen.k14s.io", kind: "Secret"},
	{of: "SecretImport.secretgen.carvel.dev", kind: "Secret"},
	{of: "SecretTemplate.secretgen.carvel.dev", kind: "Secret"},
	{of: "SecretExport.secretgen.carvel.dev", kind: "Secret", spread: true},
}

// findMade tells what an object makes.
func (g *generator) findMade(o *model.Object, made func(object, by model.Ref)) {
	to := model.Ref{Kind: g.kind, Namespace: o.Ref.Namespace}
	if g.spread {
		to.Namespace = ""
	}
	found := false
	for _, path := range g.names {
		at := strings.Split(path, ".")
		last := len(at) - 1
		eachAt(o.Body, at[:last], func(beside model.Body) {
			to := to
			if to.Name = beside.Text(at[last]); to.Name == "" {
				return
			}
			if g.namespace != "" {
				to.Namespace = cmp.Or(beside.Text(g.namespace), to.Namespace)
			}
			made(to, o.Ref)
			if g.isCopied(o) {
				made(model.Ref{Kind: g.kind, Name: to.Name}, o.Ref)
			}
			found = true
		})
		if found {
			return
		}
	}
	if g.named {
		return
	}
	to.Name = o.Ref.Name
	made(to, o.Ref)
	if g.isCopied(o) {
		made(model.Ref{Kind: g.kind, Name: to.Name}, o.Ref)
	}
}

// isCopied reports whether what an object makes is copied to other namespaces.
func (g *generator) isCopied(o *model.Object) bool {
	return g.template != "" && isCopied(o.Body.At(strings.Split(g.template, ".")...))
}

// eachAt calls do with what is at a path; * stands for every entry of a list.
func eachAt(b model.Body, path []string, do func(model.Body)) {
	if len(path) == 0 {
		do(b)
		return
	}
	if path[0] != "*" {
		eachAt(b.Field(path[0]), path[1:], do)
		return
	}
	for _, entry := range b.Items {
		eachAt(entry, path[1:], do)
	}
}

func hasField(path string) func(*model.Object) bool {
	return func(o *model.Object) bool { return !o.Body.At(strings.Split(path, ".")...).IsNull() }
}

func isTrue(path string) func(*model.Object) bool {
	return func(o *model.Object) bool { return o.Body.At(strings.Split(path, ".")...).Value() == true }
}

// isCopied reports whether the metadata of an object have it copied to other namespaces.
func isCopied(metadata model.Body) bool {
	annotations := metadata.Field("annotations")
	return annotations.Text("reflector.v1.k8s.emberstack.com/reflection-auto-enabled") == "true" ||
		!annotations.Field("kubed.appscode.com/sync").IsNull() ||
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
