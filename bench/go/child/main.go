// Child is a plugin for the native wire: it answers initialize and one hook, one request at
// a time.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const maxLine = 1 << 20

type request struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type response struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Result  any    `json:"result"`
}

type hookParams struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type permissionInput struct {
	SessionID  string `json:"sessionId"`
	ToolName   string `json:"toolName"`
	ToolArgs   string `json:"toolArgs"`
	Permission string `json:"permission"`
}

type permissionOutput struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
}

type hookResult struct {
	Output any `json:"output,omitempty"`
}

type manifest struct {
	ID    string   `json:"id"`
	Tools []string `json:"tools"`
	Hooks []string `json:"hooks"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 64*1024), maxLine)
	replies := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var req request
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == 0 {
			continue
		}
		result, err := answer(req)
		if err == nil {
			err = replies.Encode(response{"2.0", req.ID, result})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench child:", err)
			os.Exit(1)
		}
	}
}

func answer(req request) (any, error) {
	switch req.Method {
	case "initialize":
		return manifest{"bench", []string{}, []string{"permission.ask"}}, nil
	case "hook/invoke":
		return invoke(req.Params)
	}
	return nil, fmt.Errorf("unknown method %s", req.Method)
}

func invoke(params json.RawMessage) (any, error) {
	var hook hookParams
	if err := json.Unmarshal(params, &hook); err != nil {
		return nil, err
	}
	var in permissionInput
	if err := json.Unmarshal(hook.Input, &in); err != nil {
		return nil, err
	}
	if strings.Contains(in.ToolArgs, "forbidden") {
		return hookResult{permissionOutput{false, "the command contains: forbidden"}}, nil
	}
	return hookResult{}, nil
}
