package agentgateway

import (
	"net/url"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// checkBackend repeats translateBackendPolicyToAgw of backend_policies.go. Expressions of names and
// tags of AWS sessions are not parsed.
func (c *inspection) checkBackend(backend setting) {
	if tunnel := backend.field("tunnel"); !tunnel.IsNull() {
		c.checkEndpoint(tunnel, "")
	}
	c.checkTLS(backend.field("tls"))
	c.checkExpression(backend.field("health", "unhealthyCondition"), "backend health unhealthyCondition")
	c.checkTransformation(backend.field("transformation"))
	c.checkMCP(backend.field("mcp"))
	c.checkAI(backend.field("ai"))
	c.checkAuth(backend.field("auth"))
	if ext := backend.field("extAuth"); !ext.IsNull() {
		c.checkExtAuth(ext)
	}
}

func (c *inspection) checkMCP(mcp setting) {
	c.checkAuthorization(mcp.field("authorization"), "backend MCP authorization matchExpression")
	if login := mcp.field("authentication"); !login.IsNull() {
		c.checkRemoteKeys(login.field("jwks"))
		if ref := login.field("clientSecretRef"); !ref.IsNull() {
			c.requireCredential(ref, "clientSecret")
		}
	}
	for p := range mcp.field("guardrails", "processors").list {
		remote := p.field("remote")
		if remote.IsNull() {
			continue
		}
		c.checkEndpoint(remote, "failed to build mcpGuardrails: ")
		c.checkExpressions(remote.field("metadata"), "mcpGuardrails metadata")
	}
}

// checkAI checks settings for models. What is wrong with the policies of moderation services is
// logged and dropped; a guard that cannot be built takes those beside it away.
func (c *inspection) checkAI(ai setting) {
	for _, field := range []string{"transformations", "finalTransformations"} {
		for e := range ai.field(field).list {
			c.checkExpression(e.field("expression"), "transformation %q", e.Text("field"))
		}
	}
	for _, side := range []string{"request", "response"} {
		before := len(c.faults)
		for guard := range ai.field("promptGuard", side).list {
			webhook := guard.field("webhook")
			if webhook.IsNull() {
				continue
			}
			c.checkBackendRef(webhook, "failed to build webhook: ")
			if len(c.faults) == before {
				c.checkExpressions(webhook.field("headers"), "webhook header")
			}
			if len(c.faults) > before {
				break
			}
		}
	}
}

// primaryAuth are the ways to authenticate of which one counts, the first that is set.
var primaryAuth = []string{"key", "secretRef", "aws", "azure", "gcp", "oauthTokenExchange", "crossAppAccess",
	"jwtSign", "passthrough"}

// findPrimaryAuth is the way to authenticate that counts, "" if none is set.
func findPrimaryAuth(has func(field string) bool) string {
	if i := slices.IndexFunc(primaryAuth, has); i >= 0 {
		return primaryAuth[i]
	}
	return ""
}

// checkAuth repeats translateBackendAuth.
func (c *inspection) checkAuth(auth setting) {
	way := findPrimaryAuth(func(field string) bool {
		v := auth.field(field)
		return !v.IsNull() && (field != "key" || v.Text() != "")
	})
	switch v := auth.field(way); way {
	case "secretRef":
		c.requireCredential(v, "Authorization")
	case "aws":
		c.checkAWS(v)
	case "azure":
		if found, _ := c.findCredential(v.field("secretRef"), ""); found != nil {
			for _, key := range []string{"clientID", "tenantID", "clientSecret"} {
				if !found.has(key) {
					c.addFault(v.field("secretRef").at, "%s is missing or not a valid string", key)
				}
			}
		}
	case "gcp":
		if ref := v.field("secretRef"); !ref.IsNull() {
			c.requireCredential(ref, "credentials.json")
		}
	case "oauthTokenExchange":
		c.checkTokenExchange(v)
	case "crossAppAccess":
		c.checkCrossAppAccess(v)
	case "jwtSign":
		c.checkSigning(v)
	}
	for e := range auth.field("credentials").list {
		c.checkExtraCredential(e)
	}
}

func (c *inspection) checkAWS(v setting) {
	ref := v.field("secretRef")
	if ref.Text("name") == "" {
		return
	}
	if !v.field("assumeRole").IsNull() {
		c.addFault(v.at, "secretRef and assumeRole are mutually exclusive")
	}
	if found, _ := c.findCredential(ref, ""); found != nil {
		for _, key := range []string{"accessKey", "secretKey"} {
			if !found.has(key) {
				c.addFault(ref.at, "%s is missing or not a valid string", key)
			}
		}
	}
}

// checkExtraCredential checks a credential that is sent beside the others.
func (c *inspection) checkExtraCredential(e setting) {
	var name string
	for _, place := range []string{"header", "queryParameter", "cookie"} {
		if name == "" {
			name = e.Text("location", place, "name")
		}
	}
	ref, before := e.field("secretRef"), len(c.faults)
	found, key := c.findCredential(ref, "Authorization")
	for i := range c.faults[before:] {
		c.faults[before+i].text = "backendAuth credential \"" + name + "\": " + c.faults[before+i].text
	}
	if found != nil && !found.has(key) {
		c.addFault(ref.at, "backendAuth credential %q: secret %s/%s missing key %q", name,
			c.policy.Ref.Namespace, ref.Text("name"), key)
	}
}

// checkSigning repeats buildJwtSignAuthPolicy.
func (c *inspection) checkSigning(v setting) {
	for _, claim := range []string{"iat", "exp", "nbf"} {
		if v.field("claims").Has(claim) {
			c.addFault(v.field("claims", claim).at,
				"jwtSign claim %q is reserved for the signer and cannot be configured", claim)
			return
		}
	}
	ref, before := v.field("signingKeyRef"), len(c.faults)
	found, _ := c.findCredential(ref, "")
	if len(c.faults) > before {
		c.faults = c.faults[:before]
		c.addFault(ref.at, "failed to resolve jwtSign signing secret %s/%s", c.policy.Ref.Namespace, ref.Text("name"))
	}
	if found != nil && !found.has("signingKey") {
		c.addFault(ref.at, "secret %s/%s missing signingKey value", c.policy.Ref.Namespace, ref.Text("name"))
	}
}

// reservedParams are those of OAuth, which no policy may set.
var reservedParams = []string{"grant_type", "subject_token", "subject_token_type", "actor_token",
	"actor_token_type", "assertion", "audience", "resource", "scope", "requested_token_type", "client_id",
	"client_secret", "client_assertion", "client_assertion_type"}

// checkTokenExchange repeats BuildOAuthTokenExchange.
func (c *inspection) checkTokenExchange(v setting) {
	path := c.checkEndpoint(v, "")
	if own := v.field("path"); own.IsText() {
		path = own.Text()
	}
	c.checkExpressions(v.field("additionalParams"), "oauth additionalParams")
	for key, e := range v.field("additionalParams").sortedFields {
		if slices.ContainsFunc(reservedParams, func(r string) bool { return strings.EqualFold(r, key) }) {
			c.addFault(e.at, "oauth additionalParams %q overrides a reserved OAuth parameter", key)
		}
	}
	c.checkClientAuth(v.field("clientAuth"))
	for _, token := range []string{"subjectToken", "actorToken"} {
		c.checkToken(v.field(token), "oauth "+token)
	}
	if path != "" && !strings.HasPrefix(path, "/") {
		c.addFault(v.field("path").at, "oauthTokenExchange.path %q must start with /", path)
	}
	if v.Text("grantType") == "JwtBearer" {
		if !v.field("actorToken").IsNull() {
			c.addFault(v.field("actorToken").at, "oauth actorToken is only valid with TokenExchange grantType")
		}
		if !v.field("requestedTokenType").IsNull() {
			c.addFault(v.field("requestedTokenType").at, "oauth requestedTokenType is only valid with TokenExchange grantType")
		}
	}
	if v.Text("requestedTokenType") == "IdJag" {
		c.addFault(v.field("requestedTokenType").at, "oauth requestedTokenType IdJag is only supported by crossAppAccess")
	}
	if actor := v.field("actorToken"); actor.Text("mayAct") == "Required" && actor.Text("tokenType") != "Jwt" {
		c.addFault(actor.at, "oauth actorToken mayAct Required requires tokenType Jwt")
	}
}

// checkCrossAppAccess repeats BuildCrossAppAccess.
func (c *inspection) checkCrossAppAccess(v setting) {
	if v.Text("audience") == "" {
		c.addFault(v.at, "crossAppAccess audience must not be empty")
	}
	for _, server := range []string{"identityProvider", "resourceAuthorizationServer"} {
		endpoint := v.field(server)
		path := c.checkEndpoint(endpoint, "")
		if own := endpoint.field("path"); own.IsText() {
			path = own.Text()
		}
		c.checkClientAuth(endpoint.field("clientAuth"))
		if path != "" && !strings.HasPrefix(path, "/") {
			c.addFault(endpoint.field("path").at, "crossAppAccess.%s.path %q must start with /", server, path)
		}
	}
	c.checkToken(v.field("subjectToken"), "crossAppAccess subjectToken")
}

// checkToken checks where a token is from, and of what type it is.
func (c *inspection) checkToken(v setting, what string) {
	c.checkExtraction(v.field("source"), what+" source")
	sort := v.field("tokenType")
	if !sort.IsText() || slices.Contains([]string{"AccessToken", "Jwt", "IdToken", "IdJag"}, sort.Text()) {
		return
	}
	parsed, err := url.Parse(sort.Text())
	if err != nil || !parsed.IsAbs() || parsed.Fragment != "" {
		c.addFault(sort.at, "%s tokenType %q must be a built-in token type or an absolute URI without a fragment",
			what, sort.Text())
	}
}

// checkClientAuth repeats buildOAuthClientAuth.
func (c *inspection) checkClientAuth(v setting) {
	if v.IsNull() {
		return
	}
	secret, key, method := v.field("secretRef"), v.field("privateKeyJwt"), v.Text("method")
	if v.Text("clientId") == "" {
		c.addFault(v.at, "oauth clientAuth clientId must not be empty")
	}
	if !secret.IsNull() && !key.IsNull() {
		c.addFault(secret.at, "oauth clientAuth secretRef is not valid with privateKeyJwt")
	}
	switch {
	case !key.IsNull():
		if method != "PrivateKeyJwt" {
			c.addFault(key.at, "oauth clientAuth privateKeyJwt requires method PrivateKeyJwt")
		}
		c.checkClientKey(key)
		return
	case method == "PrivateKeyJwt":
		c.addFault(v.at, "oauth clientAuth method PrivateKeyJwt requires privateKeyJwt settings")
	}
	switch {
	case !secret.IsNull():
		c.requireCredential(secret, "clientSecret")
	case method != "ClientSecretPost":
		c.addFault(v.at, "oauth clientAuth without secretRef requires method ClientSecretPost or PrivateKeyJwt")
	}
}

// checkClientKey repeats buildOAuthPrivateKeyJWT.
func (c *inspection) checkClientKey(v setting) {
	certificate := v.field("certificateRef")
	if v.Text("assertionAudience") == "" {
		c.addFault(v.at, "oauth clientAuth privateKeyJwt assertionAudience must not be empty")
	}
	if certificate.IsNull() != v.field("certificateHeader").IsNull() {
		c.addFault(v.at, "oauth clientAuth privateKeyJwt certificateRef and certificateHeader must be set together")
	}
	c.requireCredential(v.field("signingKeyRef"), "signingKey")
	if !certificate.IsNull() {
		c.requireCredential(certificate, "certificate")
	}
}

// checkTLS repeats translateBackendTLS.
func (c *inspection) checkTLS(tls setting) {
	if tls.Text("certificateSource") == "SPIFFE" {
		return
	}
	for ref := range tls.field("mtlsCertificateRef").list {
		found, _ := c.findCredential(ref, "")
		if found != nil && !found.isKeyPair() {
			c.addFault(ref.at, "secret %s/%s contains invalid certificate: it has no tls.crt and tls.key that are PEM",
				c.policy.Ref.Namespace, ref.Text("name"))
		}
		break // only the first counts
	}
	for ref := range tls.field("caCertificateRefs").list {
		c.checkAuthority(ref)
	}
}

// checkAuthority repeats Resolve of cacert/ca.go.
func (c *inspection) checkAuthority(v setting) {
	ref := model.Ref{Kind: "ConfigMap", Namespace: c.policy.Ref.Namespace, Name: v.Text("name")}
	if kind := v.Text("kind"); kind != "" {
		ref.Kind = kind
	}
	if ref.Kind != "ConfigMap" && ref.Kind != "Secret" {
		c.addFault(v.at, "unsupported CA certificate reference kind %q", ref.Kind)
		return
	}
	o, known := c.findObject(ref, v.at)
	switch {
	case o == nil && known:
		c.addFault(v.at, "%s %s not found", ref.Kind, ref.FullName())
	case o == nil:
	case !(&credential{o}).has("ca.crt"):
		c.addFault(v.at, "error extracting CA cert from %s %s: missing ca.crt", ref.Kind, ref.FullName())
	case !(&credential{o}).isPEM("ca.crt"):
		c.addFault(v.at, "invalid ca.crt in %s %s: it is not PEM", ref.Kind, ref.FullName())
	}
}
