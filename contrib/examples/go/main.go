// Word-count is a tinyhost plugin in Go that needs only the standard library.
//
// The host writes one JSON-RPC 2.0 message per line to our standard input and reads one
// answer per line from our standard output.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// A tool gets its arguments as JSON text. Its error becomes a result marked as an error.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	execute     func(args json.RawMessage) (string, error)
}

// A hook gets its input as JSON text and returns its output, or nil for "no opinion".
type hook struct {
	name string
	run  func(input json.RawMessage) (any, error)
}

var tools = []tool{{
	Name:        "count",
	Description: "Count the lines, words and characters of a text",
	InputSchema: json.RawMessage(`{
		"type": "object",
		"properties": {"text": {"type": "string", "description": "The text to count"}},
		"required": ["text"]
	}`),
	execute: count,
}}

var hooks = []hook{
	{"session.start", sessionStart},
	{"permission.ask", permissionAsk},
	{"tool.execute.after", toolExecuteAfter},
	{"dispose", dispose},
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "word-count:", err)
		os.Exit(1)
	}
	dispose(nil)
}

func count(args json.RawMessage) (string, error) {
	var in struct{ Text *string }
	if json.Unmarshal(args, &in) != nil || in.Text == nil {
		return "", errors.New(`count needs a text: {"text": "..."}`)
	}
	text := *in.Text
	lines := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		lines++
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(" \t\n\r\f\v", r)
	})
	characters := utf8.RuneCountInString(text)
	return fmt.Sprintf("lines %d, words %d, characters %d", lines, len(words), characters), nil
}

func sessionStart(input json.RawMessage) (any, error) {
	var in struct{ Directory string }
	if err := decodeInput("session.start", input, &in); err != nil {
		return nil, err
	}
	context := "The count tool counts text. Project folder: " + in.Directory
	return map[string]any{"additionalContext": []string{context}}, nil
}

func permissionAsk(input json.RawMessage) (any, error) {
	var in struct{ ToolName, ToolArgs any }
	if err := decodeInput("permission.ask", input, &in); err != nil {
		return nil, err
	}
	if in.ToolName != "bash" {
		return nil, nil
	}
	args, ok := in.ToolArgs.(string)
	if !ok {
		return nil, &rpcError{invalidParams, "permission.ask: toolArgs is not a string"}
	}
	if !strings.Contains(commandIn(args), "forbidden") {
		return nil, nil
	}
	return map[string]any{"allowed": false, "reason": "the command contains: forbidden"}, nil
}

// commandIn finds the command in a tool's arguments: hosts send them as JSON text, or the
// bare command line.
func commandIn(args string) string {
	var in struct{ Command *string }
	if json.Unmarshal([]byte(args), &in) == nil && in.Command != nil {
		return *in.Command
	}
	return args
}

func toolExecuteAfter(input json.RawMessage) (any, error) {
	var in struct{ ToolName, Output, IsError any }
	if err := decodeInput("tool.execute.after", input, &in); err != nil {
		return nil, err
	}
	output, ok := in.Output.(string)
	if !ok || in.ToolName != "count" && in.ToolName != "plugin__word-count__count" {
		return nil, nil
	}
	output += "\n(counted by word-count)"
	return map[string]any{"output": output, "isError": in.IsError == true}, nil
}

var disposed bool

func dispose(json.RawMessage) (any, error) {
	if !disposed {
		disposed = true
		fmt.Fprintln(os.Stderr, "word-count: disposed")
	}
	return nil, nil
}
