package requestline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// expectHint lists what --expect takes.
const expectHint = "use 200, another status that a Gateway may answer with (3xx, 401, 403, 404, 429, 503, …), allowed, denied, no-match, authentication[=METHOD], or policy=KIND/[NAMESPACE/]NAME"

// parseExpectation reads one --expect as far as that needs no input. The name of a policy is looked
// up later.
func parseExpectation(text string) (requests.Expect, error) {
	out := requests.Expect{Text: text}
	if name, found := strings.CutPrefix(text, "policy="); found {
		parts := strings.Split(name, "/")
		if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
			return out, failure.Usage("write policy=KIND/NAME or policy=KIND/NAMESPACE/NAME",
				"--expect %s names no policy", text)
		}
		return out, nil
	}
	if slices.Contains([]string{requests.ExpectAllowed, requests.ExpectDenied, requests.ExpectNoMatch}, text) {
		out.Outcome = text
		return out, nil
	}
	if property, is, err := source.ParseProperty(text); err != nil {
		return out, err
	} else if is {
		out.Property = &property
		return out, nil
	}
	status, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return out, failure.Usage(expectHint, "cannot expect %q", text)
	case status == 200 || status >= 300 && status <= 599:
		out.Status = status
		return out, nil
	}
	return out, failure.Usage(expectHint, "cannot expect status %d: only a backend answers with it", status)
}

// CheckExpectations refuses what cannot be expected of any request.
func (f *Flags) CheckExpectations() error {
	for _, text := range f.Expect {
		if _, err := parseExpectation(text); err != nil {
			return err
		}
	}
	return nil
}

// ResolveExpectations reads what is expected of a request and finds the policies that it names.
// speaksHTTP tells whether there can be a status.
func ResolveExpectations(s *source.Session, texts []string, speaksHTTP bool) ([]requests.Expect, error) {
	var out []requests.Expect
	for _, text := range texts {
		e, err := parseExpectation(text)
		if err != nil {
			return nil, err
		}
		if e.Status != 0 && !speaksHTTP {
			return nil, failure.Usage("expect allowed, denied or no-match",
				"cannot expect status %d of a connection: it has none", e.Status)
		}
		if name, found := strings.CutPrefix(text, "policy="); found {
			if err := findExpectedPolicy(s, &e, strings.Split(name, "/")); err != nil {
				return nil, err
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// findExpectedPolicy finds the policy that KIND/[NAMESPACE/]NAME means. That there is none is a
// finding: it may have been deleted.
func findExpectedPolicy(s *source.Session, e *requests.Expect, parts []string) error {
	kinds, name := s.FindPolicyKinds(parts[0]), parts[len(parts)-1]
	var found []model.Ref
	var names []string
	for _, k := range s.Kinds {
		if k.IsLaterScope() {
			continue
		}
		for _, p := range k.Policies {
			ref := p.Ref()
			if !source.ContainsKind(kinds, p.Kind.GroupKind) || len(parts) == 3 && ref.Namespace != parts[1] {
				continue
			}
			names = append(names, ref.Name)
			if ref.Name == name {
				found = append(found, ref)
			}
		}
	}
	if here := slices.DeleteFunc(slices.Clone(found), func(r model.Ref) bool { return !s.IsInNamespace(r) }); len(
		found) > 1 && len(here) > 0 {
		found = here
	}
	switch {
	case len(found) == 1:
		e.Policy = &found[0]
	case len(found) > 1:
		return failure.Usage("name one as policy=KIND/NAMESPACE/NAME: "+source.FormatRefs(found),
			"--expect %s is ambiguous: %d policies have this name", e.Text, len(found))
	default:
		e.Missing = "there is no " + strings.Join(parts, "/") + " " + s.DescribeScope()
		if near := form.Nearest(name, names); len(near) > 0 && near[0] != name {
			e.Missing += ", only " + strings.ToLower(parts[0]) + "/" + near[0]
		}
	}
	return nil
}

// AnswerWithExpectations returns the answers to a request, with what is expected of each.
func (m Matcher) AnswerWithExpectations(q *Request) ([]requests.ExpectedAnswer, error) {
	proxies, err := m.chooseProxies(q)
	if err != nil {
		return nil, err
	}
	if len(proxies) > 0 {
		return m.answerAtProxies(q, proxies)
	}
	answers, err := m.findAnswers(q)
	if err != nil {
		return nil, err
	}
	protocol := answers[0].Request.Protocol
	expect, err := ResolveExpectations(m.session, q.Flags.Expect, protocol == request.HTTP || protocol == request.GRPC)
	if err != nil {
		return nil, err
	}
	out := make([]requests.ExpectedAnswer, len(answers))
	for i, a := range answers {
		out[i] = requests.ExpectedAnswer{Answer: a, Expect: expect}
	}
	return out, nil
}
