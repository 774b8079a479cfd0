package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	methodNotFound = -32601
	invalidParams  = -32602
	handlerError   = -32000
)

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

type request struct {
	ID     json.RawMessage // kept as text, so that it comes back unchanged
	Method *string
	Params json.RawMessage
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// serve answers the requests on in, one per line, until its end. Lines of any length are
// read: a bufio.Scanner would stop at its buffer's size.
func serve(in io.Reader, out io.Writer) error {
	reader := bufio.NewReader(in)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if reply := handle(line); reply != nil {
			if err := encoder.Encode(reply); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// handle returns nil where no answer is due: for lines that are not messages, for replies,
// and for notifications, which carry no id.
func handle(line []byte) *response {
	var req request
	if json.Unmarshal(line, &req) != nil || req.Method == nil || isAbsent(req.ID) {
		return nil
	}
	reply := &response{Version: "2.0", ID: req.ID}
	result, err := answer(*req.Method, req.Params)
	if err == nil {
		reply.Result = result
	} else if !errors.As(err, &reply.Error) {
		reply.Error = &rpcError{handlerError, err.Error()}
	}
	return reply
}

func isAbsent(text json.RawMessage) bool {
	return len(text) == 0 || bytes.Equal(text, []byte("null"))
}

func answer(method string, params json.RawMessage) (any, error) {
	switch method {
	case "initialize":
		return manifest(), nil
	case "tool/call":
		return callTool(params)
	case "hook/invoke":
		return invokeHook(params)
	}
	return nil, &rpcError{methodNotFound, "unknown method: " + method}
}

func manifest() any {
	names := []string{}
	for _, h := range hooks {
		names = append(names, h.name)
	}
	return map[string]any{"id": "word-count", "version": "1.0", "tools": tools, "hooks": names}
}

func callTool(params json.RawMessage) (any, error) {
	var in struct {
		Name any
		Args json.RawMessage
	}
	// Params that cannot be read leave the name empty, and no tool has an empty name.
	_ = json.Unmarshal(params, &in)
	name, _ := in.Name.(string)
	for _, t := range tools {
		if t.Name == name {
			content, err := t.execute(in.Args)
			if err != nil {
				return map[string]any{"content": err.Error(), "isError": true}, nil
			}
			return map[string]any{"content": content}, nil
		}
	}
	return nil, &rpcError{invalidParams, "unknown tool: " + name}
}

func invokeHook(params json.RawMessage) (any, error) {
	var in struct {
		Name  any
		Input json.RawMessage
	}
	_ = json.Unmarshal(params, &in)
	for _, h := range hooks {
		if h.name == in.Name {
			output, err := h.run(in.Input)
			if err != nil || output == nil {
				return map[string]any{}, err
			}
			return map[string]any{"output": output}, nil
		}
	}
	return map[string]any{}, nil // no opinion on hooks that we do not know
}

// decodeInput reads a hook's input, which has to be an object, into target.
func decodeInput(name string, input json.RawMessage, target any) error {
	if isAbsent(input) || json.Unmarshal(input, target) != nil {
		return &rpcError{invalidParams, fmt.Sprintf("%s: the input is not an object", name)}
	}
	return nil
}
