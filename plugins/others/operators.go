package others

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// operators are kinds whose objects an operator makes others of, in their namespace and under names
// that are known. NAME stands for the name of the object. They may make more: see findUnnamedObjects.
var operators = []struct {
	of, kind string
	names    string // with spaces between them
}{
	{"Grafana.grafana.integreatly.org", "Service", "NAME-service NAME-alerting"},
	{"Grafana.grafana.integreatly.org", "Deployment.apps", "NAME-deployment"},
	{"Grafana.grafana.integreatly.org", "ServiceAccount", "NAME-sa"},
	{"Grafana.grafana.integreatly.org", "Secret", "NAME-admin-credentials"},
	{"Cluster.postgresql.cnpg.io", "Service", "NAME-rw NAME-ro NAME-r"},
	{"Cluster.postgresql.cnpg.io", "Secret", "NAME-app NAME-superuser NAME-ca NAME-server NAME-replication"},
	{"Cluster.postgresql.cnpg.io", "ServiceAccount", "NAME"},
	{"Pooler.postgresql.cnpg.io", "Service", "NAME"},
	{"Pooler.postgresql.cnpg.io", "Deployment.apps", "NAME"},
	{"PostgresCluster.postgres-operator.crunchydata.com", "Service",
		"NAME-primary NAME-replicas NAME-ha NAME-pods NAME-pgbouncer"},
	{"PostgresCluster.postgres-operator.crunchydata.com", "Secret", "NAME-pguser-NAME NAME-cluster-cert"},
	{"postgresql.acid.zalan.do", "Service", "NAME NAME-repl NAME-pooler NAME-pooler-repl"},
	{"MariaDB.k8s.mariadb.com", "Service", "NAME NAME-internal NAME-primary NAME-secondary"},
	{"MongoDBCommunity.mongodbcommunity.mongodb.com", "Service", "NAME-svc"},
	{"VMSingle.operator.victoriametrics.com", "Service", "vmsingle-NAME"},
	{"VMSingle.operator.victoriametrics.com", "Deployment.apps", "vmsingle-NAME"},
	{"VMCluster.operator.victoriametrics.com", "Service", "vmselect-NAME vminsert-NAME vmstorage-NAME"},
	{"VMAgent.operator.victoriametrics.com", "Service", "vmagent-NAME"},
	{"VMAlert.operator.victoriametrics.com", "Service", "vmalert-NAME"},
	{"VMAlertmanager.operator.victoriametrics.com", "Service", "vmalertmanager-NAME"},
	{"VMAuth.operator.victoriametrics.com", "Service", "vmauth-NAME"},
	{"VLogs.operator.victoriametrics.com", "Service", "vlogs-NAME"},
	{"VLSingle.operator.victoriametrics.com", "Service", "vlsingle-NAME"},
	{"VLCluster.operator.victoriametrics.com", "Service", "vlselect-NAME vlinsert-NAME vlstorage-NAME"},
	{"VTSingle.operator.victoriametrics.com", "Service", "vtsingle-NAME"},
	{"Prometheus.monitoring.coreos.com", "Service", "prometheus-operated"},
	{"Prometheus.monitoring.coreos.com", "StatefulSet.apps", "prometheus-NAME"},
	{"PrometheusAgent.monitoring.coreos.com", "Service", "prometheus-agent-operated"},
	{"Alertmanager.monitoring.coreos.com", "Service", "alertmanager-operated"},
	{"Alertmanager.monitoring.coreos.com", "StatefulSet.apps", "alertmanager-NAME"},
	{"ThanosRuler.monitoring.coreos.com", "Service", "thanos-ruler-operated"},
	{"CephCluster.ceph.rook.io", "Service", "rook-ceph-mgr rook-ceph-mgr-dashboard"},
	{"CephCluster.ceph.rook.io", "Secret", "rook-ceph-dashboard-password"},
	{"CephObjectStore.ceph.rook.io", "Service", "rook-ceph-rgw-NAME"},
	{"Kafka.kafka.strimzi.io", "Service", "NAME-kafka-bootstrap NAME-kafka-brokers NAME-zookeeper-client"},
	{"Kafka.kafka.strimzi.io", "Secret", "NAME-cluster-ca-cert NAME-clients-ca-cert"},
	{"KafkaConnect.kafka.strimzi.io", "Service", "NAME-connect-api"},
	{"KafkaBridge.kafka.strimzi.io", "Service", "NAME-bridge-service"},
	{"KafkaUser.kafka.strimzi.io", "Secret", "NAME"},
	{"Elasticsearch.elasticsearch.k8s.elastic.co", "Service", "NAME-es-http NAME-es-internal-http NAME-es-transport"},
	{"Elasticsearch.elasticsearch.k8s.elastic.co", "Secret", "NAME-es-elastic-user NAME-es-http-certs-public"},
	{"Kibana.kibana.k8s.elastic.co", "Service", "NAME-kb-http"},
	{"Kibana.kibana.k8s.elastic.co", "Secret", "NAME-kb-http-certs-public"},
	{"ApmServer.apm.k8s.elastic.co", "Service", "NAME-apm-http"},
	{"Agent.agent.k8s.elastic.co", "Service", "NAME-agent-http"},
	{"RabbitmqCluster.rabbitmq.com", "Service", "NAME NAME-nodes"},
	{"RabbitmqCluster.rabbitmq.com", "Secret", "NAME-default-user"},
	{"RabbitmqCluster.rabbitmq.com", "StatefulSet.apps", "NAME-server"},
	{"Redis.redis.redis.opstreelabs.in", "Service", "NAME NAME-headless NAME-additional"},
	{"RedisFailover.databases.spotahome.com", "Service", "rfs-NAME"},
	{"Dragonfly.dragonflydb.io", "Service", "NAME"},
	{"ClickHouseInstallation.clickhouse.altinity.com", "Service", "clickhouse-NAME"},
	{"Keycloak.k8s.keycloak.org", "Service", "NAME-service NAME-discovery"},
	{"Keycloak.k8s.keycloak.org", "Secret", "NAME-initial-admin"},
	{"Keycloak.k8s.keycloak.org", "StatefulSet.apps", "NAME"},
	{"Tenant.minio.min.io", "Service", "minio NAME-console NAME-hl"},
	{"Service.serving.knative.dev", "Service", "NAME"},
	{"InferenceService.serving.kserve.io", "Service", "NAME NAME-predictor NAME-transformer"},
	{"OpenTelemetryCollector.opentelemetry.io", "Service",
		"NAME-collector NAME-collector-headless NAME-collector-monitoring"},
	{"OpenTelemetryCollector.opentelemetry.io", "ServiceAccount", "NAME-collector"},
	{"Jaeger.jaegertracing.io", "Service", "NAME-query NAME-collector NAME-agent"},
	{"TempoMonolithic.tempo.grafana.com", "Service", "tempo-NAME tempo-NAME-gateway tempo-NAME-jaegerui"},
	{"TempoStack.tempo.grafana.com", "Service", "tempo-NAME-gateway tempo-NAME-query-frontend tempo-NAME-distributor"},
	{"LokiStack.loki.grafana.com", "Service", "NAME-gateway-http NAME-distributor-http NAME-query-frontend-http"},
	{"TemporalCluster.temporal.io", "Service", "NAME-frontend NAME-ui"},
	{"ArgoCD.argoproj.io", "Service", "NAME-server NAME-repo-server NAME-redis NAME-dex-server NAME-metrics"},
	{"EventSource.argoproj.io", "Service", "NAME-eventsource-svc"},
	{"EventListener.triggers.tekton.dev", "Service", "el-NAME"},
	{"Canary.flagger.app", "Service", "NAME NAME-primary NAME-canary"},
	{"FluxInstance.fluxcd.controlplane.io", "Service",
		"source-controller notification-controller webhook-receiver source-watcher"},
	{"FluxInstance.fluxcd.controlplane.io", "Deployment.apps", "source-controller kustomize-controller " +
		"helm-controller notification-controller image-reflector-controller image-automation-controller"},
	{"MCPServer.kagent.dev", "Service", "NAME"},
	{"MCPServer.kagent.dev", "Deployment.apps", "NAME"},
	{"MCPServer.toolhive.stacklok.dev", "Service", "mcp-NAME-proxy"},
	{"MCPServer.toolhive.stacklok.dev", "Deployment.apps", "NAME"},
	{"MeshGatewayInstance.kuma.io", "Service", "NAME"},
	{"MeshGatewayInstance.kuma.io", "Deployment.apps", "NAME"},
	{"ObjectBucketClaim.objectbucket.io", "Secret", "NAME"},
	{"ObjectBucketClaim.objectbucket.io", "ConfigMap", "NAME"},
}

// findOperated tells what operators make of the objects of the input.
func findOperated(in *model.Snapshot, made func(object, by model.Ref)) {
	for _, row := range operators {
		gk := model.ParseGroupKind(row.kind)
		for _, o := range in.OfKind(model.ParseGroupKind(row.of)) {
			for _, name := range strings.Fields(row.names) {
				made(model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.Ref.Namespace,
					Name: strings.ReplaceAll(name, "NAME", o.Ref.Name)}, o.Ref)
			}
		}
	}
}
