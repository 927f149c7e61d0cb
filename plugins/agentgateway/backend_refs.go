package agentgateway

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// readBackendRef reads a reference to a backend, which is a Service unless it says otherwise.
func readBackendRef(v model.Body, namespace string) model.Ref {
	ref := model.Ref{Group: v.Text("group"), Kind: "Service", Namespace: namespace, Name: v.Text("name")}
	if kind := v.Text("kind"); kind != "" {
		ref.Kind = kind
	}
	if ns := v.Text("namespace"); ns != "" {
		ref.Namespace = ns
	}
	return ref
}

// listUsedBackends lists the backends that the settings of a policy use themselves
// (referencedBackendRefsFromPolicy of traffic_plugin.go).
func listUsedBackends(o *model.Object) []model.Ref {
	spec := setting{Body: o.Body.Field("spec")}
	list := &backendList{namespace: o.Ref.Namespace}
	traffic := spec.field("traffic")
	for _, field := range []string{"extAuth", "extProc"} {
		for v := range traffic.field(field).forms {
			list.add(v)
		}
	}
	for v := range traffic.field("rateLimit").forms {
		list.add(v.field("global"))
	}
	for p := range traffic.field("jwtAuthentication", "providers").list {
		list.add(p.field("jwks", "remote"))
	}
	list.add(spec.field("frontend", "tracing"))
	list.add(spec.field("frontend", "accessLog", "otlp"))
	list.addOfBackend(spec.field("backend"))
	return list.refs
}

// listBackendsOfBackend lists the backends that the policies of an AgentgatewayBackend use, and those
// of its custom providers (BuildAgwBackendReferences of syncer/backend/backend_plugin.go). None of
// these references takes a grant.
func listBackendsOfBackend(o *model.Object) []model.Ref {
	spec := setting{Body: o.Body.Field("spec")}
	list := &backendList{namespace: o.Ref.Namespace}
	list.addOfBackend(spec.field("policies"))
	list.add(spec.field("ai", "provider", "custom"))
	for g := range spec.field("ai", "groups").list {
		for p := range g.field("providers").list {
			list.add(p.field("custom"))
			list.addOfConnection(p.field("policies"))
			list.addOfGuards(p.field("policies", "ai"))
		}
	}
	for t := range spec.field("mcp", "targets").list {
		list.addOfConnection(t.field("static", "policies"))
	}
	return list.refs
}

// backendList collects references to backends.
type backendList struct {
	namespace string
	refs      []model.Ref
}

// add adds the backend that a setting names.
func (l *backendList) add(v setting) {
	if ref := v.field("backendRef"); ref.IsObject() {
		l.refs = append(l.refs, readBackendRef(ref.Body, l.namespace))
	}
}

// addOfBackend adds those of settings for backends (BackendReferencesFromBackendPolicy).
func (l *backendList) addOfBackend(v setting) {
	l.addOfConnection(v)
	l.add(v.field("extAuth"))
	l.add(v.field("mcp", "authentication", "jwks"))
	for p := range v.field("mcp", "guardrails", "processors").list {
		l.add(p.field("remote"))
	}
	l.addOfGuards(v.field("ai"))
}

// addOfConnection adds those of settings for connections.
func (l *backendList) addOfConnection(v setting) {
	l.add(v.field("tunnel"))
	l.add(v.field("auth", "oauthTokenExchange"))
	l.add(v.field("auth", "crossAppAccess", "identityProvider"))
	l.add(v.field("auth", "crossAppAccess", "resourceAuthorizationServer"))
}

// addOfGuards adds those of settings for models.
func (l *backendList) addOfGuards(ai setting) {
	for _, side := range []string{"request", "response"} {
		for guard := range ai.field("promptGuard", side).list {
			l.add(guard.field("webhook"))
			for _, service := range []string{"openAIModeration", "googleModelArmor", "bedrockGuardrails"} {
				l.add(guard.field(service, "policies", "tunnel"))
			}
		}
	}
}

// forms yields a setting, or all forms of it that have conditions.
func (s setting) forms(yield func(setting) bool) {
	entries := s.field("conditional")
	if entries.IsNull() {
		yield(s)
		return
	}
	for e := range entries.list {
		if !yield(e.field("policy")) {
			return
		}
	}
}
