package others

import (
	"path"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// findUnnamedObjects tells in which namespaces operators may make Services, workloads and what these
// need, under names that are not known: once for a namespace, with its first custom resource.
func findUnnamedObjects(in *model.Snapshot, omit func(model.Omission)) {
	opened := map[string]bool{}
	for _, gk := range in.Kinds() {
		if makesNothing(gk) {
			continue
		}
		for _, o := range in.OfKind(gk) {
			if ns := o.Ref.Namespace; ns != "" && !opened[ns] && !o.HasTargets() {
				opened[ns] = true
				omit(model.Omission{By: o.Ref.String(), Why: "makes objects at run time",
					Namespace: ns, Kinds: operatedKinds()})
			}
		}
	}
	for _, kind := range []string{"Policy.kyverno.io", "ClusterPolicy.kyverno.io", "GeneratingPolicy.policies.kyverno.io",
		"NamespacedGeneratingPolicy.policies.kyverno.io"} {
		for _, o := range in.OfKind(model.ParseGroupKind(kind)) {
			eachGenerated(o, func(gk model.GroupKind) {
				omit(model.Omission{By: o.Ref.String(), Why: "generates objects at run time",
					Kinds: []model.GroupKind{gk}})
			})
		}
	}
}

// operatedKinds are what operators make.
func operatedKinds() []model.GroupKind {
	return []model.GroupKind{{Kind: "Service"}, {Kind: "Secret"}, {Kind: "ConfigMap"}, {Kind: "ServiceAccount"},
		{Kind: "Pod"}, {Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps",
			Kind: "DaemonSet"}, {Group: "apps", Kind: "ReplicaSet"}, {Group: "batch", Kind: "Job"}, {Group: "batch",
			Kind: "CronJob"}}
}

// eachGenerated calls do with the kinds of objects that a policy of Kyverno generates.
func eachGenerated(o *model.Object, do func(model.GroupKind)) {
	for _, rule := range o.Body.At("spec", "rules").Items {
		generate := rule.Field("generate")
		if kind := generate.Text("kind"); kind != "" {
			do(model.NewGroupKind(generate.Text("apiVersion"), kind))
		}
		for _, kind := range generate.At("cloneList", "kinds").Items {
			version, name := path.Split(kind.Text()) // GROUP/VERSION/KIND, VERSION/KIND or KIND
			do(model.NewGroupKind(strings.TrimSuffix(version, "/"), name))
		}
	}
}

// makesNothing reports whether objects of a kind have nothing made for them in their namespace that
// policies and routes refer to, or what is made is known by name or read by others.
func makesNothing(gk model.GroupKind) bool {
	if !strings.Contains(gk.Group, ".") || strings.HasSuffix(gk.Group, ".k8s.io") {
		return true // of Kubernetes itself
	}
	if kinds, ok := activeKinds[gk.Group]; ok {
		return !slices.Contains(strings.Fields(kinds), gk.Kind)
	}
	return slices.ContainsFunc(passiveGroups, func(group string) bool {
		return gk.Group == group || strings.HasSuffix(gk.Group, "."+group)
	})
}

// activeKinds are the kinds of a group that make something, with spaces between them, where the
// others do not.
var activeKinds = map[string]string{
	"argoproj.io":             "ArgoCD Workflow CronWorkflow EventSource Sensor EventBus",
	"grafana.integreatly.org": "Grafana",
	"monitoring.coreos.com":   "Prometheus PrometheusAgent Alertmanager ThanosRuler",
	"operators.coreos.com":    "Subscription ClusterServiceVersion",
	"operator.victoriametrics.com": "VMSingle VMCluster VMAgent VMAlert VMAlertmanager VMAuth VMAnomaly VMDistributed " +
		"VLogs VLSingle VLCluster VLAgent VTSingle VTCluster",
	"postgresql.cnpg.io":             "Cluster Pooler",
	"kafka.strimzi.io":               "Kafka KafkaConnect KafkaBridge KafkaMirrorMaker2 KafkaNodePool KafkaUser",
	"kuma.io":                        "MeshGatewayInstance",
	"kuadrant.io":                    "Kuadrant",
	"operator.authorino.kuadrant.io": "Authorino",
	"limitador.kuadrant.io":          "Limitador",
	"fluxcd.controlplane.io":         "FluxInstance",
	"serving.knative.dev":            "Service Configuration Revision",
}

// passiveGroups are groups of kinds that make nothing, and with each the groups below it.
var passiveGroups = []string{
	// the Gateway API and what implementations add to it
	"gateway.networking.x-k8s.io", "agentic.networking.x-k8s.io", "inference.networking.x-k8s.io", "multicluster.x-k8s.io", "agentgateway.dev",
	"aigateway.envoyproxy.io", "alb.networking.azure.io", "apisix.apache.org", "application-networking.k8s.aws",
	"configuration.konghq.com", "elbv2.k8s.aws", "extensions.istio.io", "gateway.envoyproxy.io", "gateway.gloo.solo.io",
	"gateway.k8s.aws", "gateway.kgateway.dev", "gateway.nginx.org", "k8s.nginx.org", "gateway.solo.io", "gloo.solo.io",
	"enterprise.gloo.solo.io", "ratelimit.solo.io", "graphql.gloo.solo.io", "networking.gke.io", "net.gke.io",
	"cloud.google.com", "networking.istio.io", "security.istio.io", "telemetry.istio.io", "linkerd.io",
	"extensions.kuadrant.io", "authorino.kuadrant.io",
	"mcp.kuadrant.io", // but for a route, which its descriptor tells of
	"microgateway.airlock.com", "traefik.io", "traefik.containo.us",
	"projectcontour.io", "getambassador.io", "haproxy.org", "access.smi-spec.io", "split.smi-spec.io",
	"specs.smi-spec.io", "open-cluster-management.io", "dopolicy.dev",
	// policies about connections, and networks
	"cilium.io", "projectcalico.org", "crd.antrea.io", "k8s.ovn.org", "kubeovn.io", "k8s.cni.cncf.io", "metallb.io",
	"metallb.universe.tf",
	// Secrets and certificates, of which the names are known
	"cert-manager.io", "external-secrets.io", "kubernetes-client.io", "bitnami.com", "secrets.hashicorp.com",
	"ricoberger.de", "onepassword.com", "k8s.bitwarden.com", "secrets.infisical.com", "secrets.doppler.com",
	"isindir.github.com", "spv.no", "secrets-store.csi.x-k8s.io", "secretgenerator.mittwald.de", "secretgen.k14s.io",
	"secretgen.carvel.dev",
	// what is applied, which is read elsewhere or said not to be
	"toolkit.fluxcd.io", "helm.cattle.io", "fleet.cattle.io", "kustomize.config.k8s.io",
	// admission, backups, scaling, and settings of the cluster
	"kyverno.io", "gatekeeper.sh", "wgpolicyk8s.io", "velero.io", "volsync.backube", "keda.sh", "karpenter.sh",
	"k8s.aws", "services.k8s.aws", "cnrm.cloud.google.com", "longhorn.io", "config.openshift.io",
	"security.openshift.io", "route.openshift.io", "image.openshift.io", "aquasecurity.github.io",
}
