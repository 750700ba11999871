import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AccountApi;
import org.openapitools.client.api.InferenceApi;
import org.openapitools.client.model.ChatCompletion;
import org.openapitools.client.model.ChatCompletionChunk;
import org.openapitools.client.model.ChatCompletionRequest;
import org.openapitools.client.model.ChatMessage;
import org.openapitools.client.model.ChunkChoice;
import org.openapitools.client.model.ContentPart;
import org.openapitools.client.model.ErrorResponse;
import org.openapitools.client.model.Model;
import org.openapitools.client.model.StreamOptions;

/** A program on the code that openapi-generator makes for Java. */
public class Call {
  static InferenceApi inference(String key) {
    return new InferenceApi(client(key));
  }

  static ApiClient client(String key) {
    ApiClient client = new ApiClient().setBasePath(System.getenv("FAREGATE_URL"));
    client.setBearerToken(System.getenv(key));
    return client;
  }

  static ChatCompletionRequest ask(Object content) {
    return new ChatCompletionRequest()
        .model("faregate-sim/small")
        .addMessagesItem(new ChatMessage().role("user").content(content))
        .putAdditionalProperty("top_k", 3);
  }

  static Map<String, Object> chat(Object content) throws ApiException {
    ChatCompletion answer = inference("FAREGATE_KEY").createChatCompletion(ask(content));
    Map<String, Object> shown = new LinkedHashMap<>();
    shown.put("text", answer.getChoices().get(0).getMessage().getContent());
    shown.put("cost", answer.getUsage().getCost());
    return shown;
  }

  /** The generated call reads one JSON answer, so a stream is read from the response itself. */
  static Map<String, Object> stream() throws Exception {
    ChatCompletionRequest body = ask("Hello").stream(true).streamOptions(new StreamOptions().includeUsage(true));
    StringBuilder text = new StringBuilder();
    Map<String, Object> shown = new LinkedHashMap<>();
    try (okhttp3.Response response = inference("FAREGATE_KEY").createChatCompletionCall(body, null).execute()) {
      for (String event : response.body().string().split("\n\n")) {
        String data = event.replaceFirst("^data: ", "");
        if (data.equals("[DONE]")) shown.put("done", true);
        if (!data.startsWith("{")) continue;
        ChatCompletionChunk chunk = ChatCompletionChunk.fromJson(data);
        for (ChunkChoice choice : chunk.getChoices())
          if (choice.getDelta().getContent() != null) text.append(choice.getDelta().getContent());
        if (chunk.getUsage() != null) shown.put("cost", chunk.getUsage().getCost());
      }
    }
    shown.put("text", text.toString());
    return shown;
  }

  static Map<String, Object> refusal() throws Exception {
    try {
      inference("FAREGATE_EMPTY_KEY").createChatCompletion(ask("Hello"));
    } catch (ApiException error) {
      String code = ErrorResponse.fromJson(error.getResponseBody()).getError().getCode();
      return Map.of("status", error.getCode(), "code", code);
    }
    throw new IllegalStateException("It was not refused.");
  }

  public static void main(String[] args) throws Exception {
    List<String> models = new ArrayList<>();
    for (Model model : inference("FAREGATE_KEY").listModels().getData()) models.add(model.getId());
    Map<String, Object> shown = new LinkedHashMap<>();
    shown.put("models", models);
    shown.put("spendable_usd", new AccountApi(client("FAREGATE_KEY")).getBalance().getSpendableUsd());
    shown.put("chat", chat("Hello"));
    shown.put("parts", chat(List.of(new ContentPart().type("text").text("Hello"))));
    shown.put("stream", stream());
    shown.put("refusal", refusal());
    System.out.println(new Gson().toJson(shown));
    // The pool of its HTTP client would keep the process for minutes.
    System.exit(0);
  }
}
