package load_test
import ("testing";"runtime";"os";"context";"path/filepath";"time";"fmt";"github.com/dopolicy/kubectl-dopolicy/pkg/load")
func TestGC(t *testing.T){
 text:=routes(10000); name:=filepath.Join(t.TempDir(),"r.yaml"); os.WriteFile(name,text,0o600); text=nil
 for range 3 { runtime.GC()
 var m0,m1 runtime.MemStats; runtime.ReadMemStats(&m0); st:=time.Now()
 s,_:=load.Files(context.Background(),load.Options{Paths:[]string{name}})
 d:=time.Since(st); runtime.ReadMemStats(&m1)
 fmt.Println(d, m1.NumGC-m0.NumGC, len(s.Objects)) }
}
