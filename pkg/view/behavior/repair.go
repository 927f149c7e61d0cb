package behavior

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// repairFinder says what would make the second side answer as the first.
type repairFinder struct {
	implementation string // of the Gateways of the second side; "": not known, or several
	equivalents    ingress.Equivalents
}

// findRepair returns what would repair a difference, where that is known; "": it is not.
func (f *repairFinder) findRepair(d Difference, r *request.Request, before, after *sideAnswer,
	settings []SettingChange) string {
	switch d {
	case NewAccess:
		return f.repairAccess(before, after)
	case RedirectGone:
		return f.repairRedirect(r, before)
	case OtherRedirect:
		return repairLocation(before, after)
	case NoMatchNow:
		return f.repairMatch(r, before)
	case OtherPath:
		return f.nameEquivalent(ingress.FeatureRewrite, "the text of a URLRewrite filter is sent as it is")
	case OtherBackend:
		return "backendRefs with the same weights; where a header or a cookie chooses, a rule of its own that matches it"
	case OtherAnswer, OtherSettings:
		return f.repairSettings(settings)
	}
	return ""
}

// nameEquivalent names what the implementation has for a feature.
func (f *repairFinder) nameEquivalent(feature ingress.Feature, otherwise string) string {
	switch {
	case f.equivalents[feature] != "":
		return "use " + f.equivalents[feature]
	case f.implementation != "":
		return f.implementation + " has nothing that does the same"
	}
	return otherwise
}

// repairAccess says what would refuse the request again.
func (f *repairFinder) repairAccess(before, after *sideAnswer) string {
	lost := before.DeniedBy
	for _, alternatives := range before.NeedsAuth {
		if !strings.Contains(after.authKey(), string(alternatives[0])) {
			lost = alternatives[0]
			break
		}
	}
	feature := ingress.FeatureOf(lost)
	if feature == "" {
		if before.Outcome == request.NoMatch {
			return "take the host or the path out of the route"
		}
		return ""
	}
	otherwise := "a policy of the implementation: the Gateway API has no field for it"
	switch feature {
	case ingress.FeatureExternal:
		otherwise = "an ExternalAuth filter (experimental)"
	case ingress.FeatureClientCertificate:
		otherwise = "spec.tls.frontend of the Gateway"
	}
	return f.nameEquivalent(feature, otherwise)
}

// repairRedirect says what would redirect the request again.
func (f *repairFinder) repairRedirect(r *request.Request, before *sideAnswer) string {
	status := strconv.Itoa(before.Status)
	switch {
	case before.signsIn():
		return "a redirect to sign in has no equivalent; OIDC of the implementation has its own"
	case !r.Secure && strings.HasPrefix(before.Location, "https://"+r.Host) && before.Status == 308:
		return "on the HTTP listener a route with a RequestRedirect filter: scheme https, statusCode " + status
	case strings.HasSuffix(before.Location, r.Path+"/"):
		return "an Exact match of " + r.Path + " with a RequestRedirect filter: ReplaceFullPath " + r.Path +
			"/, statusCode " + status
	}
	return "a RequestRedirect filter"
}

// repairLocation says why a redirect leads elsewhere.
func repairLocation(before, after *sideAnswer) string {
	without := func(url string) string {
		url, _, _ = strings.Cut(tidyLocation(url), "?")
		return url
	}
	switch {
	case before.Status != after.Status:
		return "statusCode " + strconv.Itoa(before.Status) +
			" of the RequestRedirect filter (the API has 301, 302, 303, 307, 308)"
	case without(before.Location) == without(after.Location):
		return "a RequestRedirect filter keeps the query: it has no equivalent"
	case strings.TrimSuffix(without(before.Location), "/") == strings.TrimSuffix(without(after.Location), "/"):
		return "a slash at the end: before the move, preserve-trailing-slash makes both the same"
	}
	return ""
}

// repairMatch says what would match the request again.
func (f *repairFinder) repairMatch(r *request.Request, before *sideAnswer) string {
	if before.Ingress == (model.Ref{}) || before.Path == "" {
		return ""
	}
	out := "a match for what path " + before.Path + " of " + before.Ingress.String() + " takes"
	if strings.HasPrefix(r.Path, before.Path+"/") || r.Path == before.Path || before.Path == "/" {
		return out
	}
	return out + ": it is an expression without case that holds for the beginning, (?i)" +
		strings.TrimSuffix(strings.TrimPrefix(before.Path, "^"), ".*") + ".*"
}

// repairSettings names what has the settings that differ.
func (f *repairFinder) repairSettings(all []SettingChange) string {
	var out []string
	for _, s := range all {
		family, _, _ := strings.Cut(s.Name, ".")
		if name := f.equivalents[ingress.Feature(family)]; name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if out == nil {
		return ""
	}
	return "use " + strings.Join(out, ", ")
}
