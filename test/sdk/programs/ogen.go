// A program on the code that ogen makes.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"faregate/tools/ogen/gw"

	"github.com/go-faster/jx"
	"github.com/ogen-go/ogen/ogenerrors"
)

// A key, sent as a bearer token: any one of the two ways is enough.
type source struct{ key string }

func (s source) Bearer(context.Context, gw.OperationName) (gw.Bearer, error) {
	return gw.Bearer{Token: s.key}, nil
}

func (source) ApiKey(context.Context, gw.OperationName) (gw.ApiKey, error) {
	return gw.ApiKey{}, ogenerrors.ErrSkipClientSecurity
}

func clientOf(variable string) *gw.Client {
	client, err := gw.NewClient(os.Getenv("FAREGATE_URL"), source{os.Getenv(variable)})
	if err != nil {
		panic(err)
	}
	return client
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// A text, or parts, of which ogen makes no types: they stand beside a text.
func ask(content any) *gw.ChatCompletionRequest {
	return &gw.ChatCompletionRequest{
		Model:    "faregate-sim/small",
		Messages: []gw.ChatMessage{{Role: "user", Content: must(json.Marshal(content))}},
		// A field that the document does not name is taken.
		AdditionalProps: gw.ChatCompletionRequestAdditional{"top_k": jx.Raw("3")},
	}
}

type record = map[string]any

func chat(client *gw.Client, content any) record {
	answer, ok := must(client.CreateChatCompletion(context.Background(), ask(content))).(*gw.ChatCompletionHeaders)
	if !ok {
		panic("A chat failed.")
	}
	return record{"text": answer.Response.Choices[0].Message.Content.Value, "cost": answer.Response.Usage.Cost}
}

func stream(client *gw.Client) record {
	body := ask("Hello")
	body.Stream = gw.NewOptNilBool(true)
	body.StreamOptions = gw.NewOptNilStreamOptions(gw.StreamOptions{IncludeUsage: gw.NewOptNilBool(true)})
	answer, ok := must(client.CreateChatCompletion(context.Background(), body)).(*gw.CreateChatCompletionOKTextEventStreamHeaders)
	if !ok {
		panic("A stream failed.")
	}
	shown := record{"done": false}
	text := ""
	for event := range strings.SplitSeq(string(must(io.ReadAll(answer.Response))), "\n\n") {
		data := strings.TrimPrefix(event, "data: ")
		if data == "[DONE]" {
			shown["done"] = true
		}
		if !strings.HasPrefix(data, "{") {
			continue
		}
		// To the chunk only an extension of the document leads, so ogen makes no type of it.
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Usage   *struct{ Cost float64 }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			panic(err)
		}
		for _, choice := range chunk.Choices {
			text += choice.Delta.Content
		}
		if chunk.Usage != nil {
			shown["cost"] = chunk.Usage.Cost
		}
	}
	shown["text"] = text
	return shown
}

func refusal(client *gw.Client) record {
	answer, ok := must(client.CreateChatCompletion(context.Background(), ask("Hello"))).(*gw.Error402Headers)
	if !ok {
		panic("It was not refused for its balance.")
	}
	return record{"status": 402, "code": answer.Response.Error.Code}
}

func main() {
	client := clientOf("FAREGATE_KEY")
	ctx := context.Background()
	listed, ok := must(client.ListModels(ctx)).(*gw.ModelListHeaders)
	if !ok {
		panic("The models failed.")
	}
	models := []string{}
	for _, model := range listed.Response.Data {
		models = append(models, model.ID)
	}
	balance, ok := must(client.GetBalance(ctx)).(*gw.BalanceHeaders)
	if !ok {
		panic("The balance failed.")
	}
	fmt.Println(string(must(json.Marshal(record{
		"models":        models,
		"spendable_usd": balance.Response.SpendableUsd,
		"chat":          chat(client, "Hello"),
		"parts":         chat(client, []record{{"type": "text", "text": "Hello"}}),
		"stream":        stream(client),
		"refusal":       refusal(clientOf("FAREGATE_EMPTY_KEY")),
	}))))
}
