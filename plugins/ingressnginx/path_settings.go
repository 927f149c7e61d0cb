package ingressnginx

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// settingList gathers what objects set for the requests to a location, each with who sets it.
type settingList struct {
	*proxy
	server   *server
	location *location
	out      []ingress.Setting
}

// listSettings lists what objects set for the requests to a location, in the order in which it counts. What is the
// default is not in it.
func (p *proxy) listSettings(s *server, l *location) []ingress.Setting {
	if l.owner == nil || l.denialReason() != "" || s.isDenied() {
		return nil
	}
	list := &settingList{proxy: p, server: s, location: l}
	list.addClientCertificate()
	list.addRedirects()
	list.addCORS()
	list.addLimits()
	list.addRanges()
	list.addCredentials()
	list.addBackend()
	return list.out
}

func (s *settingList) add(name, value string, source model.Ref, field string) {
	s.out = append(s.out, ingress.Setting{Name: name, Value: value, Source: source, Field: field})
}

// addAnnotation adds a setting of the Ingress of the location.
func (s *settingList) addAnnotation(name, value, annotation string) {
	s.addOf(s.location.owner, name, value, annotation)
}

// addOf adds a setting that an annotation of an Ingress sets.
func (s *settingList) addOf(e *entry, name, value, annotation string) {
	s.add(name, value, e.object.Ref, e.reader.fullName(e.reader.writtenName(annotation)))
}

func (s *settingList) addKey(name, value, key string) {
	s.add(name, value, s.control.config.ref, "data."+key)
}

// writtenName is the name, or the other name, by which an annotation is written.
func (v *annotationReader) writtenName(name string) string {
	_, by, _ := v.findValue(name)
	return by
}

// isSet reports whether the Ingress of the location has an annotation with a value.
func (s *settingList) isSet(annotation string) bool {
	_, _, state := s.location.owner.reader.findValue(annotation)
	return state == present
}

func (s *settingList) addClientCertificate() {
	a := &s.server.clientAuth
	if !a.isAsked() {
		return
	}
	value := a.secret
	if a.verify != "on" {
		value += " (" + a.verify + ")"
	}
	s.add("authentication.clientCertificate", value, a.ingress, s.control.prefix+"/auth-tls-secret")
}

// addRedirects adds where clients are sent, and what becomes of paths.
func (s *settingList) addRedirects() {
	l := s.location
	set := l.settings
	if set.rewrite.appRoot != "" {
		s.addAnnotation("redirect.appRoot", set.rewrite.appRoot, "app-root")
	}
	if other := otherName(s.server.host); s.server.toWWW != nil && s.names.exact[other].redirectTo == s.server.host {
		s.addOf(s.server.toWWW, "redirect.www", other, "from-to-www-redirect")
	}
	if to := set.redirect; to.url != "" {
		s.addAnnotation("redirect.to", strconv.Itoa(to.code)+" "+to.url, to.by)
	}
	if l.needsRewrite() {
		s.addAnnotation("rewrite.target", set.rewrite.target, "rewrite-target")
	}
	s.addHTTPS()
}

// addHTTPS adds the redirect to https, if a certificate or a setting makes it act. By default it is the entry for
// certificates that does.
func (s *settingList) addHTTPS() {
	const name, force, key = "redirect.https", "force-ssl-redirect", "ssl-redirect"
	l := s.location
	if s.control.config.isExcepted("no-tls-redirect-locations", l.path) {
		return
	}
	value := strconv.Itoa(s.control.config.redirectCode())
	has, known, from := s.hasCertificate(s.server.host)
	_, inConfig := s.control.config.data[key]
	switch {
	case l.settings.rewrite.alwaysToHTTPS && s.isSet(force):
		s.addAnnotation(name, value, force)
	case l.settings.rewrite.alwaysToHTTPS:
		s.addKey(name, value, force)
	case !l.settings.rewrite.toHTTPS || !has || !known:
	case s.isSet(key):
		s.addAnnotation(name, value, key)
	case inConfig:
		s.addKey(name, value, key)
	case from != nil:
		s.add(name, value, from.object.Ref, "spec.tls")
	}
}

func (s *settingList) addCORS() {
	c := &s.location.settings.cors
	if !c.enabled {
		return
	}
	value, by := strings.Join(c.texts, " "), "enable-cors"
	if c.all {
		value = "*"
	}
	if s.isSet("cors-allow-origin") {
		by = "cors-allow-origin"
	}
	s.addAnnotation("cors.origins", value, by)
}

func (s *settingList) addLimits() {
	l := s.location.settings.limits
	for _, one := range []struct {
		name, annotation string
		value            int
	}{{"limits.rps", "limit-rps", l.perSecond}, {"limits.rpm", "limit-rpm", l.perMinute},
		{"limits.connections", "limit-connections", l.connections}} {
		if one.value > 0 {
			s.addAnnotation(one.name, strconv.Itoa(one.value), one.annotation)
		}
	}
}

// addRanges adds the lists of addresses; those of the ConfigMap that the location replaces are not in force.
func (s *settingList) addRanges() {
	set := s.location.settings
	s.addList("addresses.deny", set.deny, "denylist-source-range", "denylist-source-range")
	s.addList("addresses.allow", set.allow, "allowlist-source-range", "whitelist-source-range")
	if len(set.deny)+len(set.allow) == 0 {
		const key = "block-cidrs"
		if blocked := s.control.config.readRanges(key); len(blocked) > 0 {
			s.addKey("addresses.deny", formatRanges(blocked), key)
		}
	}
}

func (s *settingList) addList(name string, ranges []netip.Prefix, annotation, key string) {
	switch {
	case len(ranges) == 0:
	case s.isSet(annotation):
		s.addAnnotation(name, formatRanges(ranges), annotation)
	default:
		s.addKey(name, formatRanges(ranges), key)
	}
}

func formatRanges(ranges []netip.Prefix) string {
	out := make([]string, len(ranges))
	for i, r := range ranges {
		out[i] = r.String()
	}
	return strings.Join(out, " ")
}

// addCredentials adds what clients are asked for.
func (s *settingList) addCredentials() {
	l := s.location
	needs := slices.Concat(s.listCredentials(l)...)
	if slices.Contains(needs, ingress.Basic) {
		s.addAnnotation("authentication.basic", l.owner.reader.findText("auth-secret"), "auth-secret")
	}
	switch {
	case !slices.Contains(needs, ingress.External):
	case l.external == s.global:
		s.addKey("authentication.external", l.external.url, "global-auth-url")
	default:
		s.addAnnotation("authentication.external", l.external.url, "auth-url")
	}
	if l.settings.satisfyAny {
		s.addAnnotation("authentication.satisfy", "any", "satisfy")
	}
}

// findText is text, or nothing.
func (v *annotationReader) findText(annotation string) string {
	text, _ := v.readText(annotation)
	return text
}

// addBackend adds what is set for the backend, and the canary that takes some of its requests.
func (s *settingList) addBackend() {
	u := s.location.backend()
	if s.location.settings.vhost != "" {
		s.addAnnotation("upstreamHost", s.location.settings.vhost, "upstream-vhost")
	}
	if u.affinity.cookie {
		s.add("affinity.cookie", u.affinity.name, u.affinityFrom, s.control.prefix+"/affinity")
	}
	if len(u.alternatives) == 0 || !u.alternatives[0].isServed() {
		return
	}
	c, from := &u.alternatives[0].canary, u.alternatives[0].from
	for _, one := range []struct{ name, value, annotation string }{
		{"canary.header", c.header, "canary-by-header"}, {"canary.headerValue", c.value, "canary-by-header-value"},
		{"canary.headerPattern", c.pattern, "canary-by-header-pattern"}, {"canary.cookie", c.cookie, "canary-by-cookie"},
	} {
		if one.value != "" {
			s.addOf(from, one.name, one.value, one.annotation)
		}
	}
	if c.weight > 0 {
		s.addOf(from, "canary.weight", fmt.Sprintf("%d of %d", min(c.weight, c.total), c.total), "canary-weight")
	}
}
