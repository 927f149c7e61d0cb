package vectortest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// connection is a question about a connection, and what must come out.
type connection struct {
	From     string `yaml:"from"`
	To       string `yaml:"to"`
	Protocol string `yaml:"protocol"`
	Port     int    `yaml:"port"`
	Outcome  string `yaml:"outcome"`

	// by direction: the outcome, and by which rules of which policies
	Directions map[string]string   `yaml:"directions"`
	Passed     map[string][]string `yaml:"passed"` // by direction: the stages that did not decide
	Says       string              `yaml:"says"`   // a text in why
}

func (c *connection) args() []string {
	out := []string{"request", "--from", c.From, "--to", c.To, "--port", strconv.Itoa(c.Port)}
	if c.Protocol != "" {
		out = append(out, "--protocol", c.Protocol)
	}
	return out
}

func (c *connection) check(r *report, got *requests.ConnectionAnswer) {
	what := c.From + " to " + c.To + " " + c.Protocol + " " + strconv.Itoa(c.Port)
	if got.Outcome != c.Outcome {
		r.Errorf("%s: %s, expected %s: %v", what, got.Outcome, c.Outcome, got.Why)
	}
	if got.Complete != (c.Outcome != "NotEvaluated") && c.Outcome != "Denied" {
		r.Errorf("%s: complete is %v", what, got.Complete)
	}
	if !strings.Contains(strings.Join(got.Why, "\n"), c.Says) {
		r.Errorf("%s: %q does not say %q", what, got.Why, c.Says)
	}
	for name, want := range c.Directions {
		if text := decided(got, name); text != want {
			r.Errorf("%s: %s: %q, expected %q", what, name, text, want)
		}
	}
	for name, want := range c.Passed {
		var stages []string
		for _, d := range got.Decisions {
			for _, p := range d.Passed {
				if d.Direction == name {
					stages = append(stages, p.Stage)
				}
			}
		}
		if !slices.Equal(stages, want) {
			r.Errorf("%s: %s: %q passed, expected %q", what, name, stages, want)
		}
	}
}

// decided is the outcome of a direction with the rules that decided.
func decided(a *requests.ConnectionAnswer, direction string) string {
	for _, d := range a.Decisions {
		if d.Direction != direction {
			continue
		}
		var by []string
		for _, r := range d.By {
			by = append(by, r.Rule+" of "+r.Policy.FullName())
		}
		if by != nil {
			return d.Outcome + " by " + strings.Join(by, ", ")
		}
		return d.Outcome
	}
	return "not judged"
}
