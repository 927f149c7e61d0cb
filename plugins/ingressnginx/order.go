package ingressnginx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// compareAge orders Ingresses as the controller does: the oldest first, of equal times the name that sorts
// last (N2).
func compareAge(a, b *model.Object) int {
	if n := a.Created.Compare(b.Created); n != 0 {
		return n
	}
	return strings.Compare(b.Ref.FullName(), a.Ref.FullName())
}

// readEntries reads the Ingresses of the controller, in the order in which they count, and those that it
// ignores as a whole.
func (c *controller) readEntries() (entries, dropped []*entry) {
	for _, o := range c.in.OfKind(ingressKind) {
		if !c.isClaimed(o) {
			continue
		}
		if e := c.readEntry(o); e.reader.dropped != "" {
			dropped = append(dropped, e)
		} else {
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b *entry) int { return compareAge(a.object, b.object) })
	return entries, dropped
}

// checkDropped notes why the controller ignores an Ingress whatever its annotations are read as (N3).
func (v *annotationReader) checkDropped() {
	c := v.control
	if c.isFlag("disable-catch-all", false) && !v.ingress.Body.At("spec", "defaultBackend").IsNull() {
		v.dropped = fmt.Sprintf("Ingress %s has a defaultBackend, and the controller runs with --disable-catch-all",
			v.ingress.Ref.FullName())
		return
	}
	if c.isFlag("deep-inspect", true) && v.isSuspicious() {
		v.dropped = fmt.Sprintf("Ingress %s has a host, a path or a name with words of a configuration of nginx",
			v.ingress.Ref.FullName())
		return
	}
	words := strings.Split(strings.TrimSpace(c.config.data["annotation-value-word-blocklist"]), ",")
	if len(words) == 1 && words[0] == "" {
		words = nil
	}
	for _, name := range v.annotationNames() {
		value := v.ingress.Annotations[v.fullName(name)]
		for _, word := range words {
			if strings.Contains(value, word) && v.dropped == "" {
				v.dropped = fmt.Sprintf("%s has the word %q, which annotation-value-word-blocklist forbids",
					v.formatName(name), word)
			}
		}
		if findRisk(name) > c.maxRisk && v.dropped == "" {
			v.dropped = v.formatName(name) + " is of a risk above annotations-risk-level"
		}
	}
	for _, name := range dropping {
		if _, by, state := v.findValue(name); state == invalid {
			v.dropIngress(by)
		}
	}
}

// annotationNames are the annotations of the Ingress with the prefix of the controller, sorted, without it.
func (v *annotationReader) annotationNames() []string {
	var out []string
	for full := range v.ingress.Annotations {
		if name, found := strings.CutPrefix(full, v.control.prefix+"/"); found {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// findRisk returns the risk of an annotation, by its name or its other name. Those that are not known have none.
func findRisk(name string) risk {
	if r, known := findAnnotationRule(name); known {
		return r.risk
	}
	switch name {
	case "whitelist-source-range":
		return mediumRisk
	}
	return lowRisk
}

var suspicious = regexp.MustCompile(`(?s)alias\s*.*;|root\s*.*;|` +
	`/etc/(passwd|shadow|group|nginx|ingress-controller)|/var/run/secrets|_by_lua`)

// isSuspicious reports whether a text of the Ingress looks like a piece of a configuration of nginx.
func (v *annotationReader) isSuspicious() bool {
	spec := v.ingress.Body.Field("spec")
	for _, rule := range spec.Field("rules").Items {
		if suspicious.MatchString(rule.Text("host")) {
			return true
		}
		for _, path := range rule.At("http", "paths").Items {
			if suspicious.MatchString(path.Text("path")) {
				return true
			}
		}
	}
	for _, tls := range spec.Field("tls").Items {
		if suspicious.MatchString(tls.Text("secretName")) {
			return true
		}
		for _, host := range tls.Field("hosts").Items {
			if suspicious.MatchString(host.Text()) {
				return true
			}
		}
	}
	return false
}
