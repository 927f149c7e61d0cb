package request

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// plainer are a profile with one parameter each as the Gateway API has it, or without one criterion.
func plainer(p routing.Profile) []routing.Profile {
	var out []routing.Profile
	standard := routing.Standard()
	var visit func(path []int, of reflect.Type)
	visit = func(path []int, of reflect.Type) {
		for i := range of.NumField() {
			at := append(append([]int{}, path...), i)
			field := of.Field(i)
			if field.Type.Kind() == reflect.Struct {
				visit(at, field.Type)
				continue
			}
			once := p
			into, plain := reflect.ValueOf(&once).Elem().FieldByIndex(at), reflect.ValueOf(standard).FieldByIndex(at)
			if field.Name != "Name" && !reflect.DeepEqual(into.Interface(), plain.Interface()) {
				if into.Set(plain); makesSense(&once) {
					out = append(out, once)
				}
			}
		}
	}
	visit(nil, reflect.TypeOf(p))
	return out
}

// makesSense reports whether the parameters of a profile go together.
func makesSense(p *routing.Profile) bool {
	has := func(c routing.Criterion) bool { return slices.Contains(p.Order, c) }
	switch {
	case p.HostGroups == routing.GroupsUnsorted && (p.Hosts != routing.Shadow || p.Commit ||
		p.SameMatch != routing.SameFirst || p.Regex.Rank != routing.RankBeforePrefix &&
		p.Regex.Rank != routing.RankAfterPrefix),
		(p.Listeners.Share == routing.ShareGateway || p.Listeners.Share == routing.ShareClass) &&
			p.SNI != routing.SNIHost && p.SNI != routing.SNIUnknown,
		p.Commit && (p.Regex.Rank == routing.RankUnknown || p.Regex.Tied == routing.TiedUnknown || p.Hosts != routing.Shadow || !has(routing.PathText) ||
			has(routing.LongestHost) || p.Order[0] != routing.PathType),
		p.Kinds == routing.KindsTogether && p.Regex.Rank == routing.RankUnknown,
		p.SameMatch == routing.SameUnknown && !sortsHosts(p),
		has(routing.Score) != (p.Hosts == routing.ByScore),
		(p.Hosts == routing.ByScore || p.Commit) && p.GRPCPath.CallAsHeader,
		p.GRPCPath.Expressions && p.GRPCPath.CallAsHeader,
		p.Hosts == routing.ByScore && !p.GRPCPath.Expressions,
		p.Hosts == routing.Join && (has(routing.ExactHost) || has(routing.WildcardHostLast)):
		return false
	case p.Prefix == routing.Typeless:
		return p.Regex.Rank == routing.RankAsRoot && !has(routing.PathType)
	case !has(routing.PathType) && len(p.Order) > 1:
		return p.Regex.Rank == routing.RankByLength && has(routing.MatchedLength)
	}
	return true
}

// sortsHosts reports whether rules for different hostnames are never equal.
func sortsHosts(p *routing.Profile) bool {
	return p.Hosts == routing.Shadow || p.Hosts == routing.ByScore || slices.Contains(p.Order, routing.ExactHost)
}

// differing says in what a profile differs from the text of the Gateway API.
func differing(p routing.Profile) string {
	var out []string
	standard := routing.Standard()
	for i := range reflect.TypeOf(p).NumField() {
		is, was := reflect.ValueOf(p).Field(i).Interface(), reflect.ValueOf(standard).Field(i).Interface()
		if !reflect.DeepEqual(is, was) && reflect.TypeOf(p).Field(i).Name != "Source" {
			out = append(out, fmt.Sprintf("%s %+v", reflect.TypeOf(p).Field(i).Name, is))
		}
	}
	return strings.Join(out, ", ")
}
