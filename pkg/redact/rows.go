package redact

// Row says what redacted output keeps of the objects of some kinds. It is the one place that says
// so: what no row names is taken out, and docs/redact.md is generated from the rows.
//
// A path names fields, of every entry of a list alike. {a,b} stands for either, * for any one
// field, ** for any fields. Without a mark the scalar there stays. "=" replaces it with REDACTED;
// "#" does, with a number that is the same for the same text; "?" does where it is no duration; "~"
// does where it is text, and keeps numbers and words that are true or false.
type Row struct {
	Of    string   // the kinds, in words
	Kinds []string // their names, of whatever group; nil: every kind
	Stays string   // what stays, in words
	Goes  string   // what is replaced, in words
	Paths []string
}

const (
	keptRef       = "{group,kind,namespace,name,sectionName,port}"
	keptCondition = "{type,status,reason,observedGeneration}"
	keptSelector  = "{matchLabels.*,matchExpressions.{key,operator,values}}"
	keptPath      = "path.{type,replaceFullPath,replacePrefixMatch}"
	keptHeaders   = "{requestHeaderModifier,responseHeaderModifier}.{set,add}.{name,value=},{requestHeaderModifier,responseHeaderModifier}.remove"
	keptMirror    = "requestMirror.{backendRef." + keptRef + ",percent,fraction.{numerator,denominator}}"
	keptRedirect  = "requestRedirect.{scheme,hostname,port,statusCode," + keptPath + "},urlRewrite.{hostname," +
		keptPath + "}"
	keptCORS = "cors.{allowCredentials,maxAge,{allowOrigins,allowMethods,allowHeaders,exposeHeaders}=}"
	keptAuth = "externalAuth.{protocol,backendRef." + keptRef +
		",http.{path,{allowedHeaders,allowedResponseHeaders}=},grpc.allowedHeaders=,forwardBody.maxSize}"
	keptFilters = "filters.{type,extensionRef.{group,kind,name}," + keptHeaders + "," + keptMirror + "," +
		keptRedirect + "," + keptCORS + "," + keptAuth + "}"
	keptContainer = "{name,image=,restartPolicy,ports.{name,containerPort,hostPort,protocol},{livenessProbe,readinessProbe,startupProbe}.{httpGet,tcpSocket,grpc}.{path,port,scheme,host,service}}"
	keptPod       = "{nodeName,serviceAccountName,hostNetwork,{containers,initContainers}." + keptContainer + "}"
)

// Kept are the rows. Policies are not among them: of these Policy keeps the names of settings.
var Kept = []Row{
	{Of: "every kind",
		Stays: "kind, name, namespace, labels, owners, age; of statuses the types, states and reasons of conditions, for which parent or target they are, and addresses",
		Goes:  "annotations but for those below, messages, everything that no other row names", Paths: []string{
			"apiVersion", "kind",
			"metadata.{name,namespace,uid,labels.*,creationTimestamp,generation,ownerReferences.{apiVersion,kind,name,uid,controller}}",
			"status.conditions." + keptCondition, "status.ancestors.{ancestorRef." + keptRef +
				",controllerName,conditions." + keptCondition + "}",
			"status.parents.{parentRef." + keptRef + ",controllerName,conditions." + keptCondition + "}",
			"status.listeners.{name,port,attachedRoutes,supportedKinds.{group,kind},conditions." + keptCondition + "}",
			"status.{attachedListenerSets,phase,podIP,hostIP,podIPs.ip,hostIPs.ip}", "status.addresses.{type,value}",
			"status.loadBalancer.ingress.{ip,hostname}",
			"status.supportedFeatures.name",
		}},
	{Of: "routes", Kinds: []string{"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"},
		Stays: "parents, hostnames, rule names, paths, methods, names of headers and query parameters, backends with ports and weights, types of filters, redirects, rewrites, durations",
		Goes:  "values of headers and query parameters (in matches with a number, the same for equal ones), of CORS and of authorization, names of sessions", Paths: []string{
			"spec.parentRefs." + keptRef, "spec.{hostnames,useDefaultGateways}", "spec.rules.name",
			"spec.rules.matches.{path.{type,value},method,method.{type,service,method},{headers,queryParams}.{type,name,value#}}",
			"spec.rules.{" + keptFilters + "}", "spec.rules.backendRefs.{" + keptRef + ",weight," + keptFilters + "}",
			"spec.rules.{timeouts.{request?,backendRequest?},retry.{codes,attempts,backoff?},sessionPersistence.{sessionName=,absoluteTimeout?,idleTimeout?,type,cookieConfig.lifetimeType}}",
		}},
	{Of: "Gateways and sets of listeners", Kinds: []string{"Gateway", "ListenerSet", "XListenerSet"},
		Stays: "class, listeners with hostnames, ports, protocols, certificates by name, and who may attach; addresses; labels of the infrastructure; parents; parameters by name", Goes: "TLS options", Paths: []string{
			"spec.{gatewayClassName,parentRef." + keptRef + ",defaultScope}",
			"spec.listeners.{name,hostname,port,protocol,tls.{mode,certificateRefs." + keptRef +
				",frontendValidation.{mode,caCertificateRefs." + keptRef + "}}}",
			"spec.listeners.allowedRoutes.{kinds.{group,kind},namespaces.{from,selector." + keptSelector + "}}",
			"spec.allowedListeners.namespaces.{from,selector." + keptSelector + "}", "spec.addresses.{type,value}",
			"spec.infrastructure.{labels.*,parametersRef.{group,kind,name}}",
			"spec.{backendTLS,tls.backend}.clientCertificateRef." + keptRef,
			"spec.tls.frontend.{default,perPort}.{port,{validation,tls.validation}.{mode,caCertificateRefs." +
				keptRef + "}}",
		}},
	{Of: "GatewayClasses", Kinds: []string{"GatewayClass"}, Stays: "controller, parameters by name",
		Paths: []string{"spec.controllerName", "spec.parametersRef.{group,kind,namespace,name}"}},
	{Of: "ReferenceGrants", Kinds: []string{"ReferenceGrant"}, Stays: "from and to",
		Paths: []string{"spec.{from,to}.{group,kind,namespace,name}"}},
	{Of: "Services and backends", Kinds: []string{"Service", "ServiceImport", "XBackend"},
		Stays: "ports with names and protocols, selectors, types, addresses and external names", Paths: []string{
			"spec.ports.{name,port,targetPort,protocol,appProtocol,nodePort}", "spec.selector.*",
			"spec.{type,clusterIP,clusterIPs,externalName,externalIPs,loadBalancerClass,sessionAffinity,ips,ipFamilies,ipFamilyPolicy,internalTrafficPolicy,externalTrafficPolicy,publishNotReadyAddresses}",
			"spec.{destination,externalHostname,hostname}.{type,hostname,address,port,ports.{number,port,protocol}}",
		}},
	{Of: "definitions of kinds", Kinds: []string{"CustomResourceDefinition"},
		Stays: "group, names, scope, versions; of schemas the fields and their types, and the words that a field called strategy takes", Goes: "descriptions, defaults, patterns, rules", Paths: []string{
			"spec.{group,scope,names.{kind,listKind,plural,singular,shortNames}}",
			"spec.versions.{name,served,storage,deprecated}", "spec.versions.subresources.status",
			"spec.versions.schema.**.{type,nullable,required,x-kubernetes-preserve-unknown-fields,x-kubernetes-list-type,x-kubernetes-list-map-keys,x-kubernetes-int-or-string}",
			"spec.versions.schema.**.strategy.{default,enum}",
		}},
	{Of: "workloads", Kinds: []string{"Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet",
		"ReplicationController", "Job", "CronJob"},
		Stays: "selectors, labels of pods, names and ports of containers, paths and ports of probes, nodes and service accounts by name",
		Goes:  "environment variables, commands, arguments, images, volumes", Paths: []string{
			"spec." + keptPod, "spec.{template,jobTemplate.spec.template}.{metadata.labels.*,spec." + keptPod +
				"}", "spec.selector.{" + keptSelector + ",*}", "spec.replicas",
		}},
}

// readByVendors is what stays of other objects on which the answers of policy kinds depend: their
// fields, and the values of those that refer.
var readByVendors = Row{Of: "other objects on which policies of a built-in kind depend",
	Stays: "names of fields, numbers, references, hosts, addresses, ports, labels and selectors",
	Goes:  "every other text; answers about the policies are then incomplete", Paths: []string{
		"spec.**~",
		"spec.**.{apiVersion,group,kind,namespace,name,sectionName,port,ports,portName,number,targetPort,protocol,type,mode,host,hosts,hostname,hostnames,address,addresses,cidr,clusterSet,policyRef,mesh,identities,serviceAccount}",
		"spec.**.{labels,matchLabels,selector,tags,matchTags}.*",
		"spec.**.{matchExpressions,labelSelector}.{key,operator,values}",
		"spec.**.{identityRefs,networks,targetRef,targetRefs,parentRefs,backendRefs}.{group,kind,namespace,name,cidr,except,sectionName,port,weight}",
		"{placementRef,subjects,bindingOverrides,placement}.{apiGroup,apiVersion,kind,name,namespace}",
		"status.decisions.{clusterName,clusterNamespace}",
	}}

// Rows are all rows, for the documentation.
func Rows() []Row { return append(Kept[:len(Kept):len(Kept)], readByVendors) }
