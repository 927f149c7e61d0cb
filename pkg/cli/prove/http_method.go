package prove

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
)

// standardMethods lists the methods of the IANA registry of HTTP methods.
func standardMethods() []string {
	return strings.Fields(
		"ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL " +
			"MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT REBIND REPORT SEARCH TRACE UNBIND UNCHECKOUT UNLINK " +
			"UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL QUERY")
}

// checkMethods returns a usage error about a method that neither a standard nor a route of the
// input names: no request has it.
func checkMethods(s *source.Session, methods []string) error {
	for _, m := range methods {
		word := strings.ToUpper(m)
		known := standardMethods()
		if slices.Contains(known, word) {
			continue
		}
		named := findRouteMethods(s)
		if slices.Contains(named, word) {
			continue
		}
		return failure.Usage("write a method of HTTP, as GET", "%s is not a method that a standard or a route names%s",
			word, source.SuggestNearest(word, append(known, named...)))
	}
	return nil
}

// findRouteMethods lists the methods that matches of routes name.
func findRouteMethods(s *source.Session) []string {
	var out []string
	for _, o := range s.Snapshot.Objects {
		if o.Ref.Kind != "HTTPRoute" {
			continue
		}
		for _, rule := range o.Body.At("spec", "rules").Items {
			for _, m := range rule.Field("matches").Items {
				if text := m.Text("method"); text != "" {
					out = append(out, strings.ToUpper(text))
				}
			}
		}
	}
	return out
}
