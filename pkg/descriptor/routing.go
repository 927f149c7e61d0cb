package descriptor

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// RoutingProfile is how a data plane chooses the rule for a request, and where it does.
type RoutingProfile struct {
	routing.Profile
	Vendor      string
	Controllers []string // of the classes of its Gateways; nil: it is about a mesh alone
	Mesh        []string // labels or annotations of namespaces whose Services it is about as well

	ownControllers bool // they stand in the profile; else they are the vendor's
	meshOnly       bool
}

// RoutingProfiles returns what is known of the data planes, by vendor.
func (c *Catalog) RoutingProfiles() []RoutingProfile {
	out := slices.Clone(c.routing)
	for i := range out {
		name := c.chosenSettings.Text(out[i].Vendor + "." + controllerSetting)
		if name != "" && !out[i].meshOnly && !out[i].ownControllers {
			out[i].Controllers = []string{name}
		}
	}
	return out
}

// registerRouting takes the profiles of a vendor, whose controllers are those of the profiles that
// name none.
func (b *builder) registerRouting(v *vendorReader) {
	for _, p := range v.routing {
		p.Vendor = v.name
		if !p.ownControllers && !p.meshOnly {
			p.Controllers = v.controllers
		}
		b.catalog.routing = append(b.catalog.routing, p)
	}
}

// readRouting reads the field routing of a Vendor: a profile for each data plane.
func (r *vendorReader) readRouting(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		out := RoutingProfile{Profile: routing.Standard()}
		out.Profile.Regex.HeaderTied = routing.TiedUnknown
		p := &out.Profile
		r.Object(e, map[string]form.Field{
			"name": r.Text(&p.Name), "source": r.Text(&p.Source), "mesh": r.Texts(&out.Mesh),
			"controllers": r.Texts(&out.Controllers), "meshOnly": r.Flag(&out.meshOnly),
			"hosts": choose(r, &p.Hosts, routing.FallThrough, routing.Shadow, routing.Join, routing.ByScore,
				routing.ByRoute),
			"hostname":  choose(r, &p.Hostname, routing.Configured, routing.Effective),
			"listeners": func(n *yaml.Node) { r.readListeners(n, &p.Listeners) },
			"sni":       choose(r, &p.SNI, routing.SNI421, routing.SNI404, routing.SNIHost, routing.SNIUnknown),
			"order": chooseList(r, &p.Order, routing.ExactHost, routing.HostLength, routing.PathType,
				routing.PathLength, routing.Method, routing.Service, routing.Call, routing.Headers, routing.Query,
				routing.Age, routing.Name, routing.Rule, routing.Namespace, routing.Labels, routing.WildcardHostLast,
				routing.LongestHost, routing.PathText, routing.MatchedLength, routing.HeadersAndMethod,
				routing.ExactHeaders, routing.ExactQuery, routing.Kind, routing.Score),
			"prefixLength": choose(r, &p.PrefixLength, routing.AsWritten, routing.Trimmed),
			"grpcAny":      choose(r, &p.GRPCAny, routing.GRPCRoot, routing.GRPCLast),
			"grpcBare":     choose(r, &p.GRPCBare, routing.GRPCRoot, routing.GRPCLast),
			"grpcPath": func(n *yaml.Node) {
				r.Object(n, map[string]form.Field{"expressions": r.Flag(&p.GRPCPath.Expressions),
					"methodAsHeader": r.Flag(&p.GRPCPath.CallAsHeader),
					"prefix":         r.Text(&p.GRPCPath.Prefix), "anyService": r.Text(&p.GRPCPath.AnyService),
					"anyMethod": r.Text(&p.GRPCPath.AnyCall)})
			},
			"regex": func(n *yaml.Node) { r.readRegex(n, &p.Regex) },
			"prefix": choose(r, &p.Prefix, routing.ByElement, routing.ByCharacters, routing.OwnExact,
				routing.Typeless, routing.PatternExact),
			"commit": r.Flag(&p.Commit),
			"ignored": chooseList(r, &p.Ignored, routing.IgnoredMethod, routing.IgnoredQuery,
				routing.IgnoredQueryType),
			"headers": choose(r, &p.Headers, routing.FirstValue, routing.LastValue, routing.AnyValue,
				routing.SplitValues, routing.UnknownValues),
			"query": choose(r, &p.Query, routing.FirstValue, routing.LastValue, routing.AnyValue,
				routing.UnknownValues),
			"rawQuery":      r.Flag(&p.RawQuery),
			"kinds":         choose(r, &p.Kinds, routing.KindsSeparate, routing.KindsTogether),
			"sameMatch":     choose(r, &p.SameMatch, routing.SameFirst, routing.SameJoinBackends, routing.SameUnknown),
			"redirectGuard": r.Flag(&p.RedirectGuard),
			"hostGroups":    choose(r, &p.HostGroups, routing.GroupsSorted, routing.GroupsUnsorted),
			"preflight": choose(r, &p.Preflight, routing.PreflightUnknown, routing.PreflightBeforeAuth,
				routing.PreflightAfterAuth),
			"filters":  choose(r, &p.Filters, routing.FiltersFixed, routing.FiltersInOrder),
			"rewrite":  r.replacementField(&p.Rewrite),
			"redirect": r.replacementField(&p.Redirect),
			"statuses": func(n *yaml.Node) {
				r.Object(n, map[string]form.Field{"zeroWeights": r.statusField(&p.Statuses.ZeroWeights),
					"noGRPCBackend": r.statusField(&p.Statuses.NoGRPCBackend)})
			},
			"weightAnnotation":   r.Text(&p.WeightAnnotation),
			"redirectPort":       choose(r, &p.RedirectPort, routing.StandardPorts, routing.Never80Or443, routing.AllPorts),
			"redirectHost":       choose(r, &p.RedirectHost, routing.RequestHost, routing.HostAsWritten),
			"refusesSharedHosts": r.Flag(&p.RefusesSharedHosts),
		})
		if p.Name == "" || p.Source == "" {
			r.Fail(e, "a profile of routing needs \"name\" and \"source\": where it stands how the data plane routes")
		}
		if out.meshOnly && out.Mesh == nil {
			r.Fail(e, "\"meshOnly\" needs \"mesh\": the labels or annotations of namespaces that are in the mesh")
		}
		out.ownControllers = out.Controllers != nil
		r.routing = append(r.routing, out)
	})
}

func (r *vendorReader) replacementField(into *[]routing.Replacement) form.Field {
	return chooseList(r, into, routing.ReplaceCharacters, routing.TrimReplacement, routing.TidyRoot, routing.TidySlash)
}

// statusField reads a status of HTTP.
func (r *vendorReader) statusField(into *int) form.Field {
	return func(n *yaml.Node) {
		status, err := strconv.Atoi(n.Value)
		if err != nil || status < 100 || status > 599 {
			r.Fail(n, "a status of HTTP is expected here")
			return
		}
		*into = status
	}
}

// readListeners reads which listeners answer together, in words: one that says so, and others that
// say more about it.
func (r *vendorReader) readListeners(n *yaml.Node, into *routing.Listeners) {
	const isolated, equalName, dropped, port, gateway, class = "isolated", "equalName", "dropped", "port", "gateway",
		"class"
	var words []string
	chooseList(r, &words, isolated, equalName, dropped, port, gateway, class, "inObject", "secure", "named")(n)
	for _, word := range words {
		switch word {
		case isolated:
			into.Drop = routing.DropCovered
		case equalName:
			into.Share, into.Drop = routing.SharePlain, routing.DropEqual
		case dropped:
			into.Share, into.Drop = routing.SharePlain, routing.DropCovered
		case port:
			into.Share = routing.SharePort
		case gateway:
			into.Share = routing.ShareGateway
		case class:
			into.Share = routing.ShareClass
		case "inObject":
			into.InObject = true
		case "secure":
			into.Secure = true
		case "named":
			into.Named = true
		}
	}
	if into.Share == routing.ShareNothing { // there is nothing that a hostname could be taken to
		into.Drop = routing.DropNone
	}
}

func (r *vendorReader) readRegex(n *yaml.Node, into *routing.Regex) {
	among := "equal"
	r.Object(n, map[string]form.Field{
		"rank": choose(r, &into.Rank, routing.RankUnknown, routing.RankBeforePrefix, routing.RankAfterPrefix,
			routing.RankByLength, routing.RankAsRoot),
		"among": r.Word(&among, []string{"longer", "equal"}),
		"tied": choose(r, &into.Tied, routing.TiedBoth, routing.TiedStart, routing.TiedNowhere,
			routing.TiedUnknown),
		"headerTied": choose(r, &into.HeaderTied, routing.TiedBoth, routing.TiedStart, routing.TiedNowhere,
			routing.TiedUnknown),
		"dialect": choose(r, &into.Dialect, routing.RE2, routing.Go, routing.PCRE, routing.Rust),
	})
	into.Longer = among == "longer"
}

// choose reads one of several words.
func choose[W ~string](r *vendorReader, into *W, words ...W) form.Field {
	return func(n *yaml.Node) {
		text := string(*into)
		r.Word(&text, toTexts(words))(n)
		*into = W(text)
	}
}

// chooseList reads a list of some of several words, or one of them.
func chooseList[W ~string](r *vendorReader, into *[]W, words ...W) form.Field {
	return func(n *yaml.Node) {
		*into = nil
		one := func(e *yaml.Node) {
			var word W
			choose(r, &word, words...)(e)
			*into = append(*into, word)
		}
		if n.Kind == yaml.ScalarNode {
			one(n)
			return
		}
		r.List(n, one)
	}
}

func toTexts[W ~string](words []W) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}
