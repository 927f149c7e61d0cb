package traefik

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// rewriteFunc is a rewrite of paths; false: it leaves the path.
type rewriteFunc = func(path string) (string, bool)

// addPathRewrite adds a rewrite of the path (traefik pkg/middlewares/{stripprefix,stripprefixregex,
// addprefix,replacepath,replacepathregex}).
func (w *effectWalk) addPathRewrite(p middlewarePart) {
	rewrite, err := newPathRewrite(p)
	if err != nil {
		w.AddUnknown(p.ref, p.field, "cannot be read")
		return
	}
	w.AddRewrite(rewrite)
}

func newPathRewrite(p middlewarePart) (rewriteFunc, error) {
	switch p.field {
	case "stripPrefix":
		return newPrefixStrip(model.Texts(p.body.Get("prefixes")), p.body.Get("forceSlash") == true), nil
	case "stripPrefixRegex":
		return newExpressionStrip(model.Texts(p.body.Get("regex")))
	case "addPrefix":
		return func(path string) (string, bool) {
			return startWithSlash(p.body.Text("prefix") + path), true
		}, nil
	case "replacePath":
		return func(string) (string, bool) { return startWithSlash(p.body.Text("path")), true }, nil
	}
	replacement := strings.TrimSpace(p.body.Text("replacement"))
	if replacement == "" {
		return func(path string) (string, bool) { return path, false }, nil
	}
	return ingress.ReplaceMatches(strings.TrimSpace(p.body.Text("regex")), replacement)
}

// newPrefixStrip makes a rewrite that takes away the first of some texts that paths start with.
func newPrefixStrip(prefixes []string, forceSlash bool) rewriteFunc {
	return func(path string) (string, bool) {
		for _, prefix := range prefixes {
			if rest, found := strings.CutPrefix(path, prefix); found {
				if forceSlash {
					rest = strings.TrimPrefix(rest, "/")
				}
				return startWithSlash(rest), true
			}
		}
		return path, false
	}
}

// newExpressionStrip makes a rewrite that takes away what the first of some expressions finds at the
// beginning of paths.
func newExpressionStrip(expressions []string) (rewriteFunc, error) {
	var all []*regexp.Regexp
	for _, text := range expressions {
		re, err := regexp.Compile(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("compiling the expression of a prefix: %w", err)
		}
		all = append(all, re)
	}
	return func(path string) (string, bool) {
		for _, re := range all {
			if prefix := re.FindString(path); prefix != "" && strings.HasPrefix(path, prefix) {
				return startWithSlash(path[len(prefix):]), true
			}
		}
		return path, false
	}, nil
}

// startWithSlash returns a path as it is sent.
func startWithSlash(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

// addRedirect adds a redirect. One by its scheme is known to hold for the request or not; of one by an
// expression it depends on the request what of the rest is asked.
func (w *effectWalk) addRedirect(p middlewarePart) {
	redirect, err := newRedirect(p)
	switch {
	case err != nil:
		w.AddUnknown(p.ref, p.field, "cannot be read")
		return
	case w.Redirect != nil:
		w.AddUnknown(p.ref, p.field, "comes after another redirect")
		return
	case p.field == "redirectRegex":
		w.open = &p
	default:
		w.AddCover(p.ref, p.field)
		if status, _ := redirect(w.request); status == 0 {
			return
		}
		w.ended = true
	}
	w.Redirect, w.RedirectsFirst = redirect, !w.guarded
}

// schemeExpression takes a URL apart as Traefik does to change its scheme.
const schemeExpression = `^(https?://)?(\[[\w:.]+\]|[\w._-]+)?(:\d+)?(.*)$`

// newRedirect makes a redirect of the requests whose URL an expression changes (traefik
// pkg/middlewares/redirect).
func newRedirect(p middlewarePart) (func(*request.Request) (int, string), error) {
	expression, replacement := p.body.Text("regex"), p.body.Text("replacement")
	if p.field == "redirectScheme" {
		scheme, port := p.body.Text("scheme"), p.body.Text("port")
		if port != "" && (scheme != "http" || port != "80") && (scheme != "https" || port != "443") {
			port = ":" + port
		} else {
			port = ""
		}
		expression, replacement = schemeExpression, scheme+"://${2}"+port+"${4}"
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("compiling the expression of a redirect: %w", err)
	}
	permanent := p.body.Get("permanent") == true
	return func(r *request.Request) (int, string) {
		from := r.FormatURL()
		to := re.ReplaceAllString(from, replacement)
		if to == from || !re.MatchString(from) {
			return 0, ""
		}
		if parsed, err := url.Parse(to); err == nil {
			to = parsed.String()
		}
		return redirectStatus(r.Method, permanent), to
	}, nil
}

// redirectStatus is the status of a redirect; those of methods that change something keep them.
func redirectStatus(method string, permanent bool) int {
	keeps := method != "GET" && method != "HEAD"
	switch {
	case keeps && permanent:
		return 308
	case keeps:
		return 307
	case permanent:
		return 301
	}
	return 302
}
