package cli

import (
	"slices"
	"strings"
)

// standardMethods are the methods that the IANA registry of HTTP methods lists.
func standardMethods() []string {
	return strings.Fields("ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL " +
		"MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT REBIND REPORT SEARCH TRACE UNBIND UNCHECKOUT UNLINK " +
		"UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL QUERY")
}

// checkMethods is a usage error about a method that neither a standard nor a route of the input names: no request has it.
func (s *session) checkMethods(methods []string) error {
	for _, m := range methods {
		word := strings.ToUpper(m)
		known := standardMethods()
		if slices.Contains(known, word) {
			continue
		}
		named := s.namedMethods()
		if slices.Contains(named, word) {
			continue
		}
		return usage("write a method of HTTP, as GET", "%s is not a method that a standard or a route names%s", word, nearest(word, append(known, named...)))
	}
	return nil
}

// namedMethods are the methods that matches of routes name.
func (s *session) namedMethods() []string {
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
