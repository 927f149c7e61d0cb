package envoygateway

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// explainBackendObject says why the controller does not send to an object of its own kind of
// backends, with its reason; "" if it does.
func explainBackendObject(in *model.Snapshot, o *model.Object) (reason, message string) {
	spec := o.Body.Field("spec")
	if tls := spec.Field("tls"); !tls.IsNull() && !hasAuthorities(tls) && !isCoveredByPolicies(in, o) {
		return "InvalidBackendRef", o.Ref.String() +
			" must specify either caCertificateRefs or wellKnownCACertificates when insecureSkipVerify is unset or false"
	}
	for _, ep := range spec.Field("endpoints").Items {
		switch {
		case !isHostname(ep.Field("hostname")), !isHostname(ep.At("fqdn", "hostname")):
			return "InvalidAddress", o.Ref.String() + " has an endpoint whose hostname is no domain with two segments"
		case !ep.At("ip", "address").IsNull():
			ip, err := netip.ParseAddr(ep.Text("ip", "address"))
			if err != nil || ip.IsLoopback() {
				return "InvalidAddress", fmt.Sprintf("%s has an endpoint with address %q, which is none that can be reached", o.Ref,
					ep.Text("ip", "address"))
			}
		case !ep.Field("unix").IsNull():
			return "UnsupportedAddressType", o.Ref.String() + " has an endpoint that is a Unix domain socket"
		}
	}
	return "", ""
}

// hasAuthorities reports whether the settings for TLS of a Backend say by what it is verified, or
// that it is not.
func hasAuthorities(tls model.Body) bool {
	return tls.Field("insecureSkipVerify").Value() == true || !tls.Field("wellKnownCACertificates").IsNull() ||
		tls.Field("caCertificateRefs").Len() > 0
}

// isCoveredByPolicies reports whether BackendTLSPolicies say by what a Backend is verified: one for
// all of it, or one for each of its ports. The controller does not look at their namespaces.
func isCoveredByPolicies(in *model.Snapshot, o *model.Object) bool {
	ports := map[string]bool{}
	for _, ep := range o.Body.At("spec", "endpoints").Items {
		for _, kind := range []string{"fqdn", "ip"} {
			if port, ok := ep.At(kind, "port").Value().(int64); ok {
				ports[strconv.FormatInt(port, 10)] = false
			}
		}
	}
	for _, p := range in.OfKind(backendTLSKind) {
		validation := p.Body.At("spec", "validation")
		for _, ref := range p.Body.At("spec", "targetRefs").Items {
			if ref.Text("group") != policyGroup || ref.Text("kind") != backendKind.Kind || ref.Text("name") != o.Ref.Name {
				continue
			}
			section := ref.Text("sectionName")
			if section == "" && (!validation.Field("wellKnownCACertificates").IsNull() ||
				validation.Field("caCertificateRefs").Len() > 0) {
				return true
			}
			if _, has := ports[section]; has {
				ports[section] = true
			}
		}
	}
	for _, covered := range ports {
		if !covered {
			return false
		}
	}
	return len(ports) > 0
}

var domainName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)

// isHostname reports whether a hostname is one that the controller takes: a domain of two segments
// or more, and no address. One that is not given is no fault.
func isHostname(name model.Body) bool {
	if name.IsNull() {
		return true
	}
	_, err := netip.ParseAddr(name.Text())
	return err != nil && domainName.MatchString(strings.TrimSuffix(name.Text(), "."))
}
