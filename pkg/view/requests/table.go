package requests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// formatHeading says where the request goes, then why.
func (a *RequestResult) formatHeading() []string {
	head := []string{a.PathText()}
	if a.Outcome != "Matched" {
		head = append(head, a.formatOutcome())
	} else if a.DeniedBy != "" {
		head = append(head, a.formatDenial())
	}
	head = append(head, a.verdictLines()...)
	head = append(head, a.proxyLines()...)
	if a.isRewritten() {
		head = append(head, "sends: "+a.Sends.Method+" "+a.Sends.Host+a.Sends.Path)
	}
	if len(a.MayAnswer) > 0 {
		head = append(head, "may answer: "+answersText(a.MayAnswer))
	}
	head = append(head, a.expectationLines()...)
	for i, why := range a.Why {
		head = append(head, [...]string{"why: ", "     "}[min(i, 1)]+why)
	}
	for i := range a.NearMisses {
		label := a.NearMisses[0].formatLabel() + ": "
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		head = append(head, label+a.NearMisses[i].formatLine())
	}
	for i := range a.Decisions {
		head = append(head, a.Decisions[i].KindName()+": "+a.Decisions[i].FormatSentence())
	}
	for i, ref := range a.Shadowed {
		head = append(head, [...]string{"shadowed: ", "          "}[min(i, 1)]+ref.String())
	}
	for _, p := range a.ownProblems {
		if p.Code == model.SettingMatters {
			head = append(head, "implementations differ: "+p.Message)
		}
	}
	return head
}

// isRewritten reports whether backends get another request than was asked about, or a filter may
// have had that in mind.
func (a *RequestResult) isRewritten() bool {
	return a.Sends != nil && (slices.Contains(a.Filters, "URLRewrite") || a.Request.Path != "" &&
		a.Sends.Path != a.Request.Path)
}

// Table says on its first line where the request goes, then why, then what is in force on its way.
func (a *RequestAnswer) Table(o view.TableOptions) view.Table {
	if a.StatusReasons != nil {
		return a.statusTable(o)
	}
	list := &effective.EffectivePolicyList{Envelope: a.Envelope, Items: a.Effective}
	o.Grouped = true
	body := list.Table(o)
	if len(body.Blocks) > 0 && a.Route != nil {
		body.Blocks[0].Heading = nil
		if len(body.Blocks) > 1 {
			body.Blocks[0].Heading = []string{"on " + list.Items[0].Target.String()}
		}
	}
	if len(a.Effective) == 0 {
		body.Footer = nil
		if a.Route != nil {
			body.Footer = append(body.Footer, a.NoPolicyText()+" is in force on "+a.Route.String())
		}
		body.Footer = append(body.Footer, a.IncompleteLines()...)
	}
	return view.Table{Blocks: slices.Concat([]view.Block{{Heading: a.formatHeading()}}, a.pointBlocks(), body.Blocks),
		Footer: body.Footer}
}

// PathText says the path of the request as far as it gets.
func (a *RequestResult) PathText() string {
	var steps []string
	switch {
	case a.IngressClass != "":
		return a.formatIngressPath()
	case a.Service != "":
		steps = append(steps, "service/"+a.Service+" (mesh)")
	case a.Gateway == "":
		return a.Request.Text
	default:
		step := "gateway/" + a.Gateway
		if a.ListenerSet != "" {
			step += " · listenerset/" + a.ListenerSet
		}
		if a.Listener != "" {
			step += " · listener " + a.Listener
			if a.hostname != "" {
				step += " (" + a.hostname + ")"
			}
		}
		steps = append(steps, step)
	}
	if a.Route != nil {
		steps = append(steps, a.Route.String())
	}
	if len(a.Backends) > 0 {
		steps = append(steps, a.backendText())
	}
	return strings.Join(steps, " → ")
}

// formatOutcome says the outcome in words.
func (a *RequestResult) formatOutcome() string {
	text := a.Outcome
	switch a.Outcome {
	case "NoMatch":
		text = "no match"
	case "BackendError":
		text = "no backend answers"
	case "Redirect":
		text = "redirect to " + a.Location
	case "Passthrough":
		text = "no route applies: it goes directly to the Service"
	case "Conditional":
		for _, why := range a.Why {
			if rest, found := strings.CutPrefix(why, "it depends: cannot tell: "); found {
				return "cannot tell: " + rest
			}
		}
		assumed := map[string]string{"NoMatch": "no match", "BackendError": "no backend answers"}[a.Assumed]
		if assumed == "" {
			assumed = strings.ToLower(a.Assumed)
		}
		return "conditional: " + assumed + ", unless one of the following changes it"
	case "Misdirected":
		text = "misdirected"
	case "Allowed", "Denied", "Limited":
		text = strings.ToLower(a.Outcome)
		if a.DeniedBy != "" {
			text += " by " + string(a.DeniedBy)
		}
	case "Answered":
		text = "answered by the proxy itself"
	case "NotEvaluated":
		text = "unknown"
	}
	if a.Status != 0 {
		text += " (" + strconv.Itoa(a.Status) + ")"
	}
	return text
}

// formatDenial says that a policy at the Gateway refuses a request that a rule takes.
func (a *RequestResult) formatDenial() string {
	text := "denied by " + string(a.DeniedBy)
	if a.gatewayStatus != 0 {
		text += " (" + strconv.Itoa(a.gatewayStatus) + ")"
	}
	return text
}

// backendText names the backends; where there are several, with their share.
func (a *RequestResult) backendText() string {
	total := 0
	for _, b := range a.Backends {
		total += b.Weight
	}
	var out []string
	for _, b := range a.Backends {
		s := b.Ref.String()
		if len(a.Backends) > 1 {
			s += fmt.Sprintf(" %d/%d", b.Weight, total)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}
