// Caller starts a plugin and calls its permission.ask hook, in the way that a host in Go
// does it: a mutex around the call, the request written as a line, the reply read in a
// goroutine, and a select over the reply, a timer and the end of the process.
//
// Arguments: the plugin's program and the hook's input as JSON. It reads a number of calls
// per line and answers with the median of their times in nanoseconds.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	hookTimeout = 5 * time.Second
	maxOutput   = 10 << 20
)

type request struct {
	Version string          `json:"jsonrpc"`
	ID      int64           `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type response struct {
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type permissionInput struct {
	SessionID  string `json:"sessionId"`
	ToolName   string `json:"toolName"`
	ToolArgs   string `json:"toolArgs"`
	Permission string `json:"permission"`
}

type permissionOutput struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason"`
}

type hookParams struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type hookResult struct {
	Output json.RawMessage `json:"output"`
}

// countingReader refuses to read more than maxOutput bytes for one reply.
type countingReader struct {
	from io.Reader
	read int
}

func (r *countingReader) Read(into []byte) (int, error) {
	if r.read >= maxOutput {
		return 0, errors.New("the reply is too long")
	}
	n, err := r.from.Read(into)
	r.read += n
	return n, err
}

type plugin struct {
	mutex   sync.Mutex
	stdin   io.WriteCloser
	counter *countingReader
	stdout  *bufio.Reader
	lastID  int64
	exited  chan struct{}
}

func start(program string) (*plugin, error) {
	command := exec.Command(program)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own: Wait would close one of exec's while we still read it.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	command.Stdout = write
	if err := command.Start(); err != nil {
		return nil, err
	}
	write.Close()
	counter := &countingReader{from: read}
	p := &plugin{
		stdin: stdin, counter: counter, stdout: bufio.NewReader(counter), exited: make(chan struct{}),
	}
	go func() {
		command.Wait()
		close(p.exited)
	}()
	return p, nil
}

type outcome struct {
	reply response
	err   error
}

func (p *plugin) call(method string, params any, timeout time.Duration) (json.RawMessage, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.lastID++
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	frame, err := json.Marshal(request{"2.0", p.lastID, method, raw})
	if err != nil {
		return nil, err
	}
	if _, err := p.stdin.Write(append(frame, '\n')); err != nil {
		return nil, err
	}
	p.counter.read = 0
	replies := make(chan outcome, 1)
	go func(id int64) {
		reply, err := p.readReply(id)
		replies <- outcome{reply, err}
	}(p.lastID)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case got := <-replies:
		if got.err != nil {
			return nil, got.err
		}
		if got.reply.Error != nil {
			return nil, errors.New(got.reply.Error.Message)
		}
		return got.reply.Result, nil
	case <-timer.C:
		return nil, errors.New("timeout")
	case <-p.exited:
		return nil, errors.New("the plugin is gone")
	}
}

// readReply skips lines that are not the reply to that request.
func (p *plugin) readReply(id int64) (response, error) {
	for {
		line, err := p.stdout.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var reply response
			if json.Unmarshal(line, &reply) == nil && reply.ID == id {
				return reply, nil
			}
		}
		if err != nil {
			return response{}, err
		}
	}
}

func (p *plugin) ask(input permissionInput) (permissionOutput, error) {
	var output permissionOutput
	raw, err := json.Marshal(input)
	if err != nil {
		return output, err
	}
	result, err := p.call("hook/invoke", hookParams{"permission.ask", raw}, hookTimeout)
	if err != nil {
		return output, err
	}
	var hook hookResult
	if err := json.Unmarshal(result, &hook); err != nil {
		return output, err
	}
	err = json.Unmarshal(hook.Output, &output)
	return output, err
}

func median(p *plugin, input permissionInput, count int) (int64, error) {
	times := make([]int64, 0, count)
	for range count {
		began := time.Now()
		output, err := p.ask(input)
		times = append(times, time.Since(began).Nanoseconds())
		if err != nil {
			return 0, err
		}
		if output.Allowed || output.Reason == "" {
			return 0, errors.New("the plugin did not deny")
		}
	}
	slices.Sort(times)
	return times[count/2], nil
}

func run(program, inputText string) error {
	var input permissionInput
	if err := json.Unmarshal([]byte(inputText), &input); err != nil {
		return err
	}
	p, err := start(program)
	if err != nil {
		return err
	}
	defer func() {
		p.stdin.Close()
		<-p.exited
	}()
	start := map[string]string{"version": "1.0", "directory": "/"}
	if _, err := p.call("initialize", start, hookTimeout); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		count, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		nanoseconds, err := median(p, input, count)
		if err != nil {
			return err
		}
		fmt.Println(nanoseconds)
	}
	return lines.Err()
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "bench caller:", err)
		os.Exit(1)
	}
}
