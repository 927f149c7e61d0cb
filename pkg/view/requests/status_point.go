package requests

import (
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
)

// addPoints adds the points behind the Gateway that deny the request. One that sees requests answers
// with a status; where one refuses the connection, the Gateway says that the backend does not answer.
func (e *statusExplainer) addPoints() {
	for i := range e.result.points {
		p := &e.result.points[i]
		if p.Name == point.Edge || p.Verdict != point.Denied && p.Verdict != point.Depends {
			continue
		}
		status, when := strconv.Itoa(p.Status), "because it is "
		if p.Status == 0 {
			status, when = e.asked, "from the Gateway, which gets no connection, because it is "
		}
		if !e.isAsked(status) || p.Status == 0 && e.asked != "502" && e.asked != "503" && e.asked != "504" {
			continue
		}
		if p.Verdict == point.Depends {
			e.out.Unknown = append(e.out.Unknown, FormatPoint(p))
			continue
		}
		number, err := strconv.Atoi(status)
		if err != nil {
			continue
		}
		cause := StatusCause{Status: number, Object: p.Object, When: when + FormatPoint(p),
			Certain: p.Status != 0 && e.result.Verdict == string(point.Denied) && e.result.Outcome != "Conditional"}
		if p.Decision != nil && len(p.Decision.By) > 0 {
			by := newDecidingRules(p.Decision.By[:1])[0]
			cause.Object, cause.Setting, cause.Origin = by.Policy, by.formatRule(), by.Origin
		} else if len(p.Policies) > 0 {
			cause.Object = p.Policies[0]
		}
		if !e.hasCause(cause.Object, cause.Setting) {
			e.out.Causes = append(e.out.Causes, cause)
		}
	}
}
