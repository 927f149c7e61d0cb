package health

import (
	"context"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// answer is what a check says of one policy.
type answer struct{ Health, Message string }

// runLua runs a script as Argo CD runs one that an administrator configured: with the libraries
// package, base and table (it also has functions of os that tell the time), the object as the
// variable obj, and for at most a second.
func runLua(script string, object map[string]any) (answer, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(lib.open), Protect: true}, lua.LString(lib.name)); err != nil {
			return answer{}, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l.SetContext(ctx)
	l.SetGlobal("obj", toLua(l, object))
	if err := l.DoString(script); err != nil {
		return answer{}, err
	}
	out, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return answer{}, fmt.Errorf("the script returned %s", l.Get(-1).Type())
	}
	return answer{lua.LVAsString(out.RawGetString("status")), lua.LVAsString(out.RawGetString("message"))}, nil
}

// toLua is a value of an object as Argo CD hands it to scripts.
func toLua(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		out := l.CreateTable(len(v), 0)
		for _, item := range v {
			out.Append(toLua(l, item))
		}
		return out
	case map[string]any:
		out := l.CreateTable(0, len(v))
		for key, item := range v {
			out.RawSetH(lua.LString(key), toLua(l, item))
		}
		return out
	}
	return lua.LNil
}
