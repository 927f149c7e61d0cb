package agentgateway

import (
	"encoding/json"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// checkTraffic repeats translateTrafficPolicyToAgw of traffic_plugin.go. The conditions of retries
// are not parsed.
func (c *inspection) checkTraffic(traffic setting) {
	c.checkConditional(traffic.field("extAuth"), c.checkExtAuth)
	c.checkConditional(traffic.field("extProc"), c.checkExtProc)
	c.checkAuthorization(traffic.field("authorization"), "authorization matchExpression")
	c.checkRateLimits(traffic.field("rateLimit"))
	c.checkConditional(traffic.field("transformation"), c.checkTransformation)
	c.checkRetry(traffic.field("retry"))
	c.checkDelay(traffic.field("delay"))
	c.checkConditional(traffic.field("directResponse"), c.checkDirectResponse)
	c.checkJWT(traffic.field("jwtAuthentication"))
	c.checkAPIKeys(traffic.field("apiKeyAuthentication"))
	c.checkBasicLogin(traffic.field("basicAuthentication"))
}

// checkConditional checks a setting, or all forms of it that have conditions.
func (c *inspection) checkConditional(v setting, check func(setting)) {
	if v.IsNull() {
		return
	}
	entries := v.field("conditional")
	if entries.IsNull() {
		check(v)
		return
	}
	for e := range entries.list {
		check(e.field("policy"))
		c.checkCondition(e)
	}
}

// checkCondition checks when an entry counts.
func (c *inspection) checkCondition(entry setting) {
	v := entry.field("condition")
	if v.IsText() && v.Text() != "" && !isExpression(v.Text()) {
		c.addFault(v.at, "condition CEL expression is invalid: %s", v.Text())
	}
}

// checkExtAuth repeats buildExtAuthSpec.
func (c *inspection) checkExtAuth(v setting) {
	http := v.field("http")
	path := c.checkEndpoint(v, "failed to build extAuth: ")
	if path != "" && http.IsNull() {
		c.addFault(v.at, "extAuth url path is only valid with http")
	}
	if v.field("grpc").IsNull() {
		if path != "" && !http.field("path").IsNull() {
			c.addFault(http.field("path").at, "extAuth http.path may not be set when url includes a path")
		}
		for _, field := range []string{"path", "redirect", "body"} {
			c.checkExpression(http.field(field), "extAuth http %s", field)
		}
		c.checkExpressions(http.field("addRequestHeaders"), "extAuth http addRequestHeaders")
		c.checkExpressions(http.field("responseMetadata"), "extAuth http responseMetadata")
	}
	c.checkExpressions(v.field("grpc", "requestMetadata"), "extAuth grpc requestMetadata")
	for key := range v.field("cache", "key").list {
		c.checkExpression(key, "extAuth cache key")
	}
	if ttl := v.field("cache", "ttl"); ttl.IsText() && !isDelay(ttl.Text()) {
		c.addFault(ttl.at, "extAuth cache ttl is not a valid CEL expression: %s", ttl.Text())
	}
}

func (c *inspection) checkExtProc(v setting) {
	c.checkEndpoint(v, "failed to build extProc: ")
	c.checkExpressions(v.field("requestAttributes"), "extProc requestAttributes")
	c.checkExpressions(v.field("responseAttributes"), "extProc responseAttributes")
	for space, entries := range v.field("metadataContext").sortedFields {
		for key, e := range entries.sortedFields {
			c.checkExpression(e, "extProc metadataContext %q/%q", space, key)
		}
	}
}

// checkAuthorization checks the rules of an authorization.
func (c *inspection) checkAuthorization(v setting, what string) {
	for e := range v.field("policy", "matchExpressions").list {
		c.checkExpression(e, "%s", what)
	}
}

// checkRateLimits repeats processRateLimitPolicy: the limits of each proxy have nothing that can be
// wrong, apart from their conditions.
func (c *inspection) checkRateLimits(v setting) {
	entries := v.field("conditional")
	if entries.IsNull() {
		c.checkGlobalLimit(v.field("global"))
		return
	}
	for _, field := range []string{"local", "global"} {
		for e := range entries.list {
			limit := e.field("policy", field)
			if limit.IsNull() {
				continue
			}
			if field == "global" {
				c.checkGlobalLimit(limit)
			}
			c.checkCondition(e)
		}
	}
}

func (c *inspection) checkGlobalLimit(v setting) {
	if v.IsNull() {
		return
	}
	c.checkEndpoint(v, "failed to build global rate limit: ")
	for d := range v.field("descriptors").list {
		for e := range d.field("entries").list {
			c.checkExpression(e.field("expression"), "rate limit descriptor entry %q", e.Text("name"))
		}
		c.checkExpression(d.field("cost"), "rate limit descriptor cost")
		c.checkExpression(d.field("limitOverride"), "rate limit descriptor limit override")
	}
}

// checkTransformation repeats convertTransformSpec, for requests and for responses.
func (c *inspection) checkTransformation(v setting) {
	for _, side := range []string{"request", "response"} {
		one := v.field(side)
		for h := range one.field("set").list {
			c.checkExpression(h.field("value"), "header value")
		}
		for h := range one.field("add").list {
			if value := h.field("value"); value.IsText() && !isExpression(value.Text()) {
				c.addFault(value.at, "invalid header value: %s", value.Text())
			}
		}
		c.checkExpression(one.field("body"), "body value")
		for _, e := range one.field("metadata").sortedFields {
			c.checkExpression(e, "metadata value")
		}
	}
}

func (c *inspection) checkRetry(v setting) {
	if n, ok := v.field("attempts").Value().(int64); ok && n < 0 {
		c.addFault(v.field("attempts").at, "failed to parse retry attempts should be positive int32 (%d)", n)
	}
}

// checkDelay checks a delay: a duration, or an expression.
func (c *inspection) checkDelay(v setting) {
	duration := v.field("duration")
	switch {
	case v.IsNull():
	case duration.Text() == "":
		c.addFault(v.at, "failed to build delay: duration is required")
	case !isDelay(duration.Text()):
		c.addFault(duration.at, "delay duration is not a valid duration or CEL expression: %s", duration.Text())
	}
}

func (c *inspection) checkDirectResponse(v setting) {
	if v.field("status").IsNull() {
		c.addFault(v.at, "failed to build directResponse: status is required")
		return
	}
	if !v.field("body").IsNull() && !v.field("bodyExpression").IsNull() {
		c.addFault(v.at, "directResponse body and bodyExpression may not both be set")
	}
	c.checkExpression(v.field("bodyExpression"), "directResponse bodyExpression")
	for h := range v.field("headers").list {
		c.checkExpression(h.field("value"), "directResponse header %q", h.Text("name"))
	}
}

// checkJWT repeats processJWTAuthenticationPolicy.
func (c *inspection) checkJWT(v setting) {
	if v.IsNull() {
		return
	}
	c.checkExtraction(v.field("location"), "jwtAuthentication location")
	providers := 0
	for p := range v.field("providers").list {
		inline := p.field("jwks", "inline")
		if inline.IsText() && inline.Text() != model.Redacted && !isKeySet(inline.Text()) {
			c.addFault(inline.at, "provider %d (issuer %q): invalid inline JWKS", providers, p.Text("issuer"))
		}
		if inline.IsNull() {
			c.checkRemoteKeys(p.field("jwks", "remote"))
		}
		providers++
	}
	if mcp := v.field("mcp"); !mcp.IsNull() && providers != 1 {
		c.addFault(mcp.at, "jwtAuthentication.mcp requires exactly one provider, found %d", providers)
	}
}

// isKeySet reports whether a text is a set of JSON Web Keys. Keys of types that are not known are
// passed over.
func isKeySet(text string) bool {
	var set struct{ Keys []json.RawMessage }
	if json.Unmarshal([]byte(text), &set) != nil {
		return false
	}
	for _, raw := range set.Keys {
		var key map[string]any
		if json.Unmarshal(raw, &key) != nil {
			return false
		}
		sort, _ := key["kty"].(string)
		for _, field := range requiredOfKey[sort] {
			if value, _ := key[field].(string); value == "" {
				return false
			}
		}
	}
	return true
}

// requiredOfKey are the fields that a JSON Web Key needs, by its type.
var requiredOfKey = map[string][]string{"RSA": {"n", "e"}, "EC": {"crv", "x", "y"}, "oct": {"k"},
	"OKP": {"crv", "x"}}

// checkBasicLogin repeats processBasicAuthenticationPolicy.
func (c *inspection) checkBasicLogin(v setting) {
	c.checkExtraction(v.field("location"), "basicAuthentication location")
	ref := v.field("secretRef")
	if found, key := c.findCredential(ref, ".htaccess"); found != nil && !found.has(key) {
		c.addFault(ref.at, "basic authentication secret %s found, but doesn't contain %q key", ref.Text("name"), key)
	}
}

// checkAPIKeys repeats processAPIKeyAuthenticationPolicy: the last source that is named counts. What
// is in Secrets is not known.
func (c *inspection) checkAPIKeys(v setting) {
	c.checkExtraction(v.field("location"), "apiKeyAuthentication location")
	if ref := v.field("secretRef"); !ref.IsNull() {
		c.findCredential(ref, "")
	}
	selector := v.field("configMapSelector")
	if selector.IsNull() {
		return
	}
	c.unread = c.unread || c.in.Cluster.HasUnread(model.GroupKind{Kind: "ConfigMap"})
	for _, o := range c.in.OfKind(model.GroupKind{Kind: "ConfigMap"}) {
		if o.Ref.Namespace != c.policy.Ref.Namespace || !hasLabels(o, selector.field("matchLabels")) {
			continue
		}
		for key, value := range (setting{Body: o.Body.Field("data")}).sortedFields {
			if flaw := findKeyFlaw(value.Text()); flaw != "" {
				c.addFault(selector.at, "configMap %s contains invalid key %s: %s", o.Ref.Name, key, flaw)
			}
		}
	}
}

func hasLabels(o *model.Object, labels setting) bool {
	for key, v := range labels.Fields {
		if value, ok := o.Labels[key]; !ok || value != v.Text() {
			return false
		}
	}
	return true
}

// findKeyFlaw says what is wrong with an entry of a ConfigMap that holds hashes of API keys.
func findKeyFlaw(text string) string {
	text = strings.TrimSpace(text)
	entry := struct{ Key, KeyHash string }{Key: text}
	switch {
	case text == model.Redacted:
		return ""
	case text == "":
		return "empty value"
	case text[0] == '{':
		entry.Key = ""
		if err := json.Unmarshal([]byte(text), &entry); err != nil {
			return err.Error()
		}
	}
	digest, isHash := strings.CutPrefix(entry.KeyHash, "sha256:")
	switch {
	case (entry.Key == "") == (entry.KeyHash == ""):
		return "exactly one of key or keyHash must be set"
	case entry.Key != "":
		return "keys sourced from a ConfigMap must use keyHash, not a raw key, since ConfigMaps are not confidential"
	case !isHash:
		return "keyHash must use the sha256:<hex> format"
	case strings.Trim(digest, "0123456789abcdefABCDEF") != "" || len(digest)%2 != 0:
		return "keyHash must contain a valid sha256 hex digest"
	case len(digest) != 64:
		return "keyHash sha256 digest must decode to 32 bytes"
	}
	return ""
}
