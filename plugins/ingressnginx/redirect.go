package ingressnginx

import (
	"net/url"
	"slices"
	"strings"
)

// redirect is where an Ingress sends its requests (N20, N21).
type redirect struct {
	url       string // "": nowhere
	code      int
	fromToWWW bool
	relative  bool
	by        string // the annotation
}

// readRedirect reads the redirects of an Ingress. A value that is no value leaves out all of them.
func (v *annotationReader) readRedirect() redirect {
	www, ok1 := v.redirectFlag("from-to-www-redirect")
	relative, ok2 := v.redirectFlag("relative-redirects")
	temporal, state := v.readText("temporal-redirect")
	if state == invalid {
		v.dropIngress("temporal-redirect")
	}
	if !ok1 || !ok2 || state == blank {
		return redirect{}
	}
	r := redirect{fromToWWW: www, relative: relative}
	if temporal != "" {
		if r.code, ok1 = v.redirectCode("temporal-redirect-code", 302, 307); !ok1 {
			return redirect{}
		}
		if u, err := url.Parse(temporal); err != nil || !strings.HasPrefix(u.Scheme, "http") {
			return redirect{}
		}
		r.url, r.by = temporal, "temporal-redirect"
		return r
	}
	r.url, state = v.readText("permanent-redirect")
	if state == invalid {
		v.dropIngress("permanent-redirect")
	}
	r.code, ok1 = v.redirectCode("permanent-redirect-code", 301, 308)
	if !ok1 || state == blank {
		return redirect{}
	}
	r.by = "permanent-redirect"
	return r
}

// redirectFlag reads an annotation that is true or false; false if it leaves out all redirects.
func (v *annotationReader) redirectFlag(name string) (value, ok bool) {
	value, state := v.readBoolean(name)
	if state == invalid {
		v.dropIngress(name)
	}
	return value, state != blank
}

// redirectCode reads a status; those that are none of a redirect are the default.
func (v *annotationReader) redirectCode(name string, otherwise, most int) (int, bool) {
	code, state := v.readInteger(name)
	if state == invalid {
		v.dropIngress(name)
	}
	if code < 300 || code > most {
		code = otherwise
	}
	return code, state != blank
}

// hasLocation reports whether an answer with a status leads somewhere else.
func hasLocation(status int) bool { return slices.Contains([]int{301, 302, 303, 307, 308}, status) }

// rewrite is what becomes of the paths of an Ingress, and of requests without TLS (N18, N19, N22).
type rewrite struct {
	target        string
	useRegex      bool
	appRoot       string
	toHTTPS       bool // ssl-redirect
	alwaysToHTTPS bool // force-ssl-redirect
	keepsSlash    bool
}

// readRewrite reads the annotations on paths.
func (v *annotationReader) readRewrite() rewrite {
	c := v.control.config
	r := rewrite{useRegex: v.booleanOr("use-regex", false),
		toHTTPS:       v.booleanOr("ssl-redirect", c.readBoolean("ssl-redirect", true)),
		alwaysToHTTPS: v.booleanOr("force-ssl-redirect", c.readBoolean("force-ssl-redirect", false)),
		keepsSlash:    v.booleanOr("preserve-trailing-slash", c.readBoolean("preserve-trailing-slash", false))}
	r.target, _ = v.readText("rewrite-target")
	root, state := v.readText("app-root")
	if u, err := url.ParseRequestURI(root); state == present && err == nil && !u.IsAbs() {
		r.appRoot = root
	}
	return r
}
