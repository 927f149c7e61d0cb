package expression

import (
	"sync"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/parser"
)

// newParser makes the parser of texts, once it is needed.
var newParser = sync.OnceValue(func() *parser.Parser {
	p, err := parser.NewParser(parser.Macros(parser.AllMacros...))
	if err != nil {
		return nil // of options that do not exist
	}
	return p
})

// CheckSyntax returns the first reason for which a text is no CEL, nil if it is. It does not check
// what the text names.
func CheckSyntax(text string) *common.Error {
	p := newParser()
	if p == nil {
		return nil
	}
	if _, errs := p.Parse(common.NewTextSource(text)); len(errs.GetErrors()) > 0 {
		return errs.GetErrors()[0]
	}
	return nil
}
