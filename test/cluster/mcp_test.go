package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// callTools asks `mcp` for some tools, by lines of JSON-RPC, and returns what each says: whether the answer is
// complete, and the answer.
func callTools(t *testing.T, kubeconfig string, calls ...string) (leads []string, answers []map[string]any) {
	t.Helper()
	in := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"test","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for i, call := range calls {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i+1, call) + "\n"
	}
	cmd := exec.CommandContext(t.Context(), Plugin(t), "mcp")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), environment(kubeconfig)}
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	leads, answers = make([]string, len(calls)), make([]map[string]any, len(calls))
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var message struct {
			ID     int
			Result struct {
				Content           []struct{ Text string }
				StructuredContent map[string]any
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			t.Fatal(err)
		}
		if message.ID > 0 && len(message.Result.Content) > 0 {
			leads[message.ID-1] = message.Result.Content[0].Text
			answers[message.ID-1] = message.Result.StructuredContent
		}
	}
	return leads, answers
}

// TestAgents: agents get what the commands print of the cluster, and are told what the user may not see.
func TestAgents(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	kubeconfig := c.Kubeconfig("admin", "shop")
	leads, answers := callTools(t, kubeconfig, `{"name":"matrix","arguments":{"limit":5}}`,
		`{"name":"diff","arguments":{"delete":["AuthPolicy/shop/cart-auth"]}}`,
		`{"name":"effective","arguments":{"targets":["httproute/shop/cart"]}}`)
	var want map[string]any
	if err := json.Unmarshal([]byte(ask(t, kubeconfig, "matrix", "-A", "-o", "json").Stdout), &want); err != nil {
		t.Fatal(err)
	}
	rows, _ := want["items"].([]any)
	if got, _ := answers[0]["items"].([]any); !strings.HasPrefix(leads[0], "complete: true.") || len(got) != 5 ||
		!reflect.DeepEqual(got, rows[:5]) {
		t.Errorf("%s\n%v\nand not %v", leads[0], got, rows)
	}
	if lost, _ := answers[1]["protection"].([]any); !strings.HasPrefix(leads[1], "Found: ") || len(lost) == 0 {
		t.Errorf("%s\n%v", leads[1], answers[1])
	}
	if items, _ := answers[2]["items"].([]any); len(items) == 0 {
		t.Errorf("%s\n%v", leads[2], answers[2])
	}
	c.User("agent")
	c.Allow("agent", "shop", reading("gateway.networking.k8s.io", "httproutes"))
	leads, answers = callTools(t, c.Kubeconfig("agent", "shop"), `{"name":"matrix","arguments":{"namespace":"shop"}}`)
	if !strings.HasPrefix(leads[0], "complete: false.") || answers[0]["complete"] != false {
		t.Errorf("%s\n%v", leads[0], answers[0])
	}
}
