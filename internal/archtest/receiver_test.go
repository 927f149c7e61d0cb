package archtest

import "go/ast"

// receiver is the name of a method's type, without its type parameters.
func receiver(f *ast.FuncDecl) string {
	for at := f.Recv.List[0].Type; ; {
		switch t := at.(type) {
		case *ast.StarExpr:
			at = t.X
		case *ast.IndexExpr:
			at = t.X
		case *ast.IndexListExpr:
			at = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
