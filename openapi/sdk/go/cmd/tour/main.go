// A tour of the API by the generated client; copy from it what you need.
//
//	FAREGATE_KEY=<key> go run ./cmd/tour [operation ...]
//
// Prints one line of JSON for each operation. FAREGATE_URL is the gateway's address (http://127.0.0.1:8080/v1).
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"faregate/sdk"
)

const (
	model       = "faregate-sim/small"
	attempts    = 3
	longestWait = time.Minute
	image     = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

// refusal is an answer that is no success. Branch on code: it stays, messages may be reworded.
type refusal struct {
	status  int
	code    string
	message string
}

func (r refusal) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", r.status, r.code)) + ": " + r.message
}

// patient stands under the generated code: it waits where the answer says how long, and makes a refusal of any other
// failure, and of a success that is nothing the gateway answers with, such as a page of a proxy.
type patient struct{ client *http.Client }

func (p patient) Do(request *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		response, err := p.client.Do(request)
		if err != nil {
			return nil, err
		}
		kind := response.Header.Get("content-type")
		if response.StatusCode < 300 && isOfGateway(kind) {
			return response, nil
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		waitMs, noWait := strconv.ParseUint(response.Header.Get("retry-after-ms"), 10, 32)
		wait := time.Duration(waitMs) * time.Millisecond
		if noWait != nil || wait > longestWait || attempt == attempts {
			return nil, refusalOf(response.StatusCode, body, kind)
		}
		time.Sleep(wait)
		if request.GetBody != nil {
			if request.Body, err = request.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// isOfGateway knows what the gateway answers with; a file is a redirect first, which the client follows, and then a video.
func isOfGateway(kind string) bool {
	return strings.HasPrefix(kind, "application/json") ||
		strings.HasPrefix(kind, "text/event-stream") ||
		strings.HasPrefix(kind, "video/")
}

func refusalOf(status int, body []byte, kind string) error {
	var answer struct {
		Error struct {
			Code    any
			Message string
		}
	}
	if err := json.Unmarshal(body, &answer); err == nil && answer.Error.Message != "" {
		code := ""
		if answer.Error.Code != nil {
			code = fmt.Sprint(answer.Error.Code)
		}
		return refusal{status, code, answer.Error.Message}
	}
	// The MCP server tells in OAuth's words what is wrong with a key.
	var ofKey struct {
		Error       string
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(body, &ofKey); err == nil && ofKey.Description != "" {
		return refusal{status, ofKey.Error, ofKey.Description}
	}
	if kind == "" {
		kind = "something without a type"
	}
	return refusal{status, "", "not an answer of the gateway, but " + kind}
}

type record map[string]any

type tour struct {
	baseURL string
	client  *faregate.ClientWithResponses
	http    patient
	key     string
}

func newTour(baseURL, key string) (*tour, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// For the head alone: a time-out of the client would end a stream that goes on for longer.
	transport.ResponseHeaderTimeout = time.Minute
	t := &tour{baseURL: baseURL, http: patient{&http.Client{Transport: transport}}, key: key}
	client, err := faregate.NewClientWithResponses(baseURL, faregate.WithHTTPClient(t.http), faregate.WithRequestEditorFn(t.sign))
	t.client = client
	return t, err
}

func (t *tour) sign(_ context.Context, request *http.Request) error {
	request.Header.Set("authorization", "Bearer "+t.key)
	return nil
}

func (t *tour) balance(ctx context.Context) (record, error) {
	answer, err := t.client.GetBalanceWithResponse(ctx)
	if err != nil {
		return nil, err
	}
	if answer.JSON200.SpendableUsd == "" {
		return nil, without("spendable_usd")
	}
	return record{"spendable_usd": answer.JSON200.SpendableUsd, "agent_status": answer.JSON200.Agent.Status}, nil
}

func chatOf(model, text string) faregate.ChatCompletionRequest {
	return faregate.ChatCompletionRequest{
		Model:    model,
		Messages: []faregate.ChatMessage{{Role: "user", Content: text}},
	}
}

func (t *tour) chat(ctx context.Context) (record, error) {
	body := chatOf(model, "Hello")
	body.MaxTokens = new(50)
	answer, err := t.client.CreateChatCompletionWithResponse(ctx, body)
	if err != nil {
		return nil, err
	}
	if answer.JSON200.ID == "" {
		return nil, without("id")
	}
	var text *string
	if choices := answer.JSON200.Choices; len(choices) > 0 {
		text = choices[0].Message.Content
	}
	return record{"text": text, "cost": answer.JSON200.Usage.Cost}, nil
}

// A stream is read from the plain answer: what ends in WithResponse reads whole answers.
func (t *tour) stream(ctx context.Context) (record, error) {
	body := chatOf(model, "Count to three")
	body.MaxTokens = new(50)
	body.Stream = new(true)
	body.StreamOptions = &faregate.StreamOptions{IncludeUsage: new(true)}
	response, err := t.client.CreateChatCompletion(ctx, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var text strings.Builder
	var cost *float64
	err = eachChunk(response.Body, func(chunk faregate.ChatCompletionChunk) {
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != nil {
			text.WriteString(*chunk.Choices[0].Delta.Content)
		}
		if chunk.Usage != nil {
			cost = &chunk.Usage.Cost
		}
	})
	return record{"text": text.String(), "cost": cost}, err
}

// The messages format has a status of its own for a busy model: 529.
func (t *tour) message(ctx context.Context) (record, error) {
	answer, err := t.client.CreateMessageWithResponse(ctx, faregate.MessagesRequest{
		Model:     model,
		MaxTokens: new(50),
		Messages:  []faregate.Message{{Role: "user", Content: "Hello"}},
	})
	if err != nil {
		return nil, err
	}
	if answer.JSON200.ID == "" {
		return nil, without("id")
	}
	var text *string
	if blocks := answer.JSON200.Content; len(blocks) > 0 {
		text = blocks[0].Text
	}
	return record{"text": text, "cost": answer.JSON200.Usage.Cost}, nil
}

func (t *tour) refusal(ctx context.Context) (record, error) {
	tooDear := chatOf("faregate-sim/large", "Hello")
	tooDear.N = new(128)
	var codes []string
	for _, body := range []faregate.ChatCompletionRequest{chatOf("nobody/nothing", "Hello"), tooDear} {
		_, err := t.client.CreateChatCompletionWithResponse(ctx, body)
		var refused refusal
		if !errors.As(err, &refused) {
			return nil, errors.Join(errors.New("not refused"), err)
		}
		switch refused.code {
		case "unknown_model":
			codes = append(codes, "unknown_model")
		case "insufficient_balance":
			// Nothing was charged: send a lower max_tokens, or add credit.
			codes = append(codes, "insufficient_balance")
		default:
			return nil, err
		}
	}
	return record{"codes": codes}, nil
}

func (t *tour) upload(ctx context.Context) (record, error) {
	bytesOf, err := base64.StdEncoding.DecodeString(image)
	if err != nil {
		return nil, err
	}
	started, err := t.client.CreateUploadWithResponse(ctx, faregate.UploadRequest{ContentType: "image/png", Size: len(bytesOf)})
	if err != nil {
		return nil, err
	}
	upload := started.JSON201
	request, err := http.NewRequestWithContext(ctx, string(upload.UploadMethod), upload.UploadURL, bytes.NewReader(bytesOf))
	if err != nil {
		return nil, err
	}
	for name, value := range upload.UploadHeaders {
		request.Header.Set(name, value)
	}
	put, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	put.Body.Close()
	kept, err := http.Get(upload.URL)
	if err != nil {
		return nil, err
	}
	defer kept.Body.Close()
	read, err := io.ReadAll(kept.Body)
	return record{"put": put.StatusCode, "url": upload.URL, "size": len(read)}, err
}

func (t *tour) video(ctx context.Context) (record, error) {
	// Sent again with the same key, an order answers with the same video and makes no new one.
	params := &faregate.CreateVideoParams{IdempotencyKey: new(rand.Text())}
	ordered, err := t.client.CreateVideoWithResponse(ctx, params, faregate.VideoRequest{
		Model:       "faregate-sim/clip",
		Prompt:      new("A harbour at dawn"),
		Duration:    1,
		Resolution:  "480p",
		AspectRatio: "16:9",
	})
	if err != nil {
		return nil, err
	}
	video := ordered.JSON202
	for {
		switch video.Status {
		case "completed":
			// The client has followed the redirect to the file.
			content, err := t.client.GetVideoContentWithResponse(ctx, video.ID)
			if err != nil {
				return nil, err
			}
			var cost *float64
			if video.Usage != nil {
				cost = &video.Usage.Cost
			}
			return record{"id": video.ID, "bytes": len(content.Body), "cost": cost}, nil
		case "failed", "expired":
			return nil, fmt.Errorf("the video ended as %s", video.Status)
		}
		// A status that this program does not know is one on the way to these.
		time.Sleep(time.Second)
		asked, err := t.client.GetVideoWithResponse(ctx, video.ID)
		if err != nil {
			return nil, err
		}
		video = asked.JSON200
	}
}

// Only a tool of the MCP server has pages. It is called by plain JSON-RPC, with the same key.
func (t *tour) calls(ctx context.Context) (record, error) {
	ids := map[int64]bool{}
	arguments := map[string]any{"limit": 2}
	for pages := 1; ; pages++ {
		var page struct {
			Calls []struct{ ID int64 }
			Next  *string
		}
		if err := t.callTool(ctx, "list_calls", arguments, &page); err != nil {
			return nil, err
		}
		for _, call := range page.Calls {
			ids[call.ID] = true
		}
		if page.Next == nil {
			return record{"pages": pages, "calls": len(ids)}, nil
		}
		arguments["before"] = *page.Next
	}
}

// Needs no key.
func (t *tour) book(ctx context.Context) (record, error) {
	list, err := t.client.ListMarketsWithResponse(ctx)
	var refused refusal
	if errors.As(err, &refused) && refused.code == "not_found" {
		// The exchange is not open yet.
		return record{"market": nil}, nil
	}
	if err != nil {
		return nil, err
	}
	if len(list.JSON200.Markets) == 0 {
		return record{"market": nil}, nil
	}
	params := &faregate.GetOrderBookParams{Depth: new(5)}
	answer, err := t.client.GetOrderBookWithResponse(ctx, list.JSON200.Markets[0].ID, params)
	if err != nil {
		return nil, err
	}
	var bestBid *string
	if bids := answer.JSON200.Bids; len(bids) > 0 {
		bestBid = &bids[0].Price
	}
	return record{"market": answer.JSON200.Market, "seq": answer.JSON200.Seq, "best_bid": bestBid}, nil
}

// eachChunk reads the events of a stream, each as it comes. It fails where the stream was cut.
func eachChunk(body io.Reader, use func(faregate.ChatCompletionChunk)) error {
	// No Scanner: it gives up a line that is longer than its buffer.
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return errors.New("the stream was cut before its end")
		}
		data, isData := strings.CutPrefix(line, "data:")
		if !isData {
			continue
		}
		data = strings.TrimSpace(data)
		if data == "[DONE]" {
			return nil
		}
		var chunk faregate.ChatCompletionChunk
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return err
		}
		if chunk.Error != nil {
			return refusalOf(200, []byte(data), "an error without a message")
		}
		use(chunk)
	}
}

func (t *tour) callTool(ctx context.Context, name string, arguments, into any) error {
	body, err := json.Marshal(record{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": record{"name": name, "arguments": arguments},
	})
	if err != nil {
		return err
	}
	address := strings.TrimSuffix(t.baseURL, "/v1") + "/mcp"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	_ = t.sign(ctx, request)
	request.Header.Set("content-type", "application/json")
	request.Header.Set("accept", "application/json, text/event-stream")
	response, err := t.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Result struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	// What a tool refuses is a sentence.
	if answer.Result.IsError {
		return fmt.Errorf("refused: %v", answer.Result.Content)
	}
	return json.Unmarshal(answer.Result.StructuredContent, into)
}

// without is what an answer is that Go reads as zeros: a cost of 0 would be told that nobody has said.
func without(field string) error {
	return errors.New("the answer is not as the document has it: it has no " + field)
}

// careful makes an error of an answer whose status the document does not have for the operation: it has no JSON200, or JSON201.
func careful(operation func(context.Context) (record, error)) (told record, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("the answer is not as the document has it: %v", caught)
		}
	}()
	return operation(context.Background())
}

func main() {
	baseURL, key := os.Getenv("FAREGATE_URL"), os.Getenv("FAREGATE_KEY")
	if baseURL == "" {
		baseURL = "http://127.0.0.1:8080/v1"
	}
	if key == "" {
		fmt.Fprintln(os.Stderr, "Set FAREGATE_KEY to a key of yours.")
		os.Exit(1)
	}
	t, err := newTour(baseURL, key)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	operations := map[string]func(context.Context) (record, error){
		"balance": t.balance, "chat": t.chat, "stream": t.stream, "message": t.message, "refusal": t.refusal,
		"upload": t.upload, "video": t.video, "calls": t.calls, "book": t.book,
	}
	all := []string{"balance", "chat", "stream", "message", "refusal", "upload", "video", "calls", "book"}
	names := os.Args[1:]
	if len(names) == 0 {
		names = all
	}
	failures := 0
	for _, name := range names {
		operation, known := operations[name]
		if !known {
			fmt.Fprintf(os.Stderr, "There is no %s. There are: %s.\n", name, strings.Join(all, ", "))
			failures++
			continue
		}
		told, err := careful(operation)
		if err != nil {
			// Of a union each part has an error, on a line of its own.
			fmt.Fprintf(os.Stderr, "%s failed: %s\n", name, strings.ReplaceAll(err.Error(), "\n", "; "))
			failures++
			continue
		}
		told["operation"] = name
		line, _ := json.Marshal(told)
		fmt.Println(string(line))
	}
	if failures > 0 {
		os.Exit(1)
	}
}
