// Reads lines of OTLP/JSON as an OpenTelemetry collector does, with its own decoder, and writes what that has understood:
// one JSON object for each span. Fails at the first line that is none.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

type span struct {
	Service    map[string]any `json:"resource"`
	Scope      string         `json:"scope"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind"`
	Trace      string         `json:"trace"`
	ID         string         `json:"id"`
	Parent     string         `json:"parent"`
	Flags      uint32         `json:"flags"`
	Begin      int64          `json:"begin"`
	End        int64          `json:"end"`
	Status     string         `json:"status"`
	Message    string         `json:"message"`
	Attributes map[string]any `json:"attributes"`
}

func run() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	var decoder ptrace.JSONUnmarshaler
	for lines.Scan() {
		traces, err := decoder.UnmarshalTraces(lines.Bytes())
		if err != nil {
			return fmt.Errorf("%w: %s", err, lines.Text())
		}
		for i := 0; i < traces.ResourceSpans().Len(); i++ {
			resource := traces.ResourceSpans().At(i)
			for j := 0; j < resource.ScopeSpans().Len(); j++ {
				scope := resource.ScopeSpans().At(j)
				for k := 0; k < scope.Spans().Len(); k++ {
					s := scope.Spans().At(k)
					read := span{
						resource.Resource().Attributes().AsRaw(), scope.Scope().Name() + " " + scope.Scope().Version(),
						s.Name(), s.Kind().String(), s.TraceID().String(), s.SpanID().String(), s.ParentSpanID().String(),
						s.Flags(), int64(s.StartTimestamp()), int64(s.EndTimestamp()), s.Status().Code().String(),
						s.Status().Message(), s.Attributes().AsRaw(),
					}
					if err := out.Encode(read); err != nil {
						return err
					}
				}
			}
		}
	}
	return lines.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
