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

// Syntax is the first reason for which a text is no CEL, nil if it is. What it names is not looked at.
func Syntax(text string) *common.Error {
	p := newParser()
	if p == nil {
		return nil
	}
	if _, errs := p.Parse(common.NewTextSource(text)); len(errs.GetErrors()) > 0 {
		return errs.GetErrors()[0]
	}
	return nil
}
