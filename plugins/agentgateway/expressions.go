package agentgateway

import (
	"fmt"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// isExpression reports whether a text is CEL. The controller only parses it.
func isExpression(text string) bool {
	return text == model.Redacted || expression.CheckSyntax(text) == nil
}

// isDelay reports whether a text is a duration or an expression.
func isDelay(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil || isExpression(text)
}

// checkExpression parses a text, if there is one.
func (c *inspection) checkExpression(v setting, what string, args ...any) {
	if v.IsText() && !isExpression(v.Text()) {
		c.addFault(v.at, "%s is not a valid CEL expression: %s", fmt.Sprintf(what, args...), v.Text())
	}
}

// checkExpressions parses the texts of a map.
func (c *inspection) checkExpressions(v setting, what string) {
	for key, e := range v.sortedFields {
		c.checkExpression(e, "%s %q", what, key)
	}
}

// checkExtraction checks where a credential is taken from.
func (c *inspection) checkExtraction(location setting, what string) {
	c.checkExpression(location.field("expression"), "%s expression", what)
}
