package ingressnginx

import "strings"

// affinity ties clients to endpoints by a cookie (N40).
type affinity struct {
	cookie bool
	legacy bool // a canary has none of its own
	name   string
	path   string
	domain string
	age    string
	expiry bool
	secure bool
	site   string
}

// readAffinity reads the annotations on affinity.
func (v *annotationReader) readAffinity() affinity {
	kind, _ := v.readText("affinity")
	behavior, _ := v.readText("affinity-canary-behavior")
	a := affinity{cookie: kind == "cookie", legacy: behavior == "legacy"}
	if !a.cookie {
		return a
	}
	name, state := v.readText("session-cookie-name")
	if a.name = name; state != present {
		a.name = "INGRESSCOOKIE"
	}
	a.path, _ = v.readText("session-cookie-path")
	a.domain, _ = v.readText("session-cookie-domain")
	a.age, _ = v.readText("session-cookie-max-age")
	_, state = v.readText("session-cookie-expires")
	a.expiry = state == present
	a.site, _ = v.readText("session-cookie-samesite")
	a.secure = v.booleanOr("session-cookie-secure", false)
	return a
}

// formatCookie returns the cookie as it is set. Which endpoint it names is not known.
func (a *affinity) formatCookie(path string, secure bool) string {
	parts := []string{a.name + "=..."}
	if a.expiry {
		parts = append(parts, "Expires=...")
	}
	if a.age != "" {
		parts = append(parts, "Max-Age="+a.age)
	}
	if a.domain != "" {
		parts = append(parts, "Domain="+a.domain)
	}
	if a.path != "" {
		path = a.path
	}
	parts = append(parts, "Path="+path)
	if a.secure || secure {
		parts = append(parts, "Secure")
	}
	parts = append(parts, "HttpOnly")
	if a.site != "" {
		parts = append(parts, "SameSite="+a.site)
	}
	return strings.Join(parts, "; ")
}
