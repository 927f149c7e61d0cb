package render
import ("testing";"os")
func TestZZ(t *testing.T){ in:=os.Getenv("ZZ"); if in=="" {t.Skip()}; b,_:=os.ReadFile(in); out,err:=CleanSVG(b,SVGOptions{Theme:Theme(os.Getenv("ZZTHEME"))}); if err!=nil{t.Fatal(err)}; os.WriteFile(os.Getenv("ZZOUT"),out,0o644)}
