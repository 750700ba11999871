import com.squareup.moshi.Moshi
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import org.openapitools.client.apis.AccountApi
import org.openapitools.client.apis.InferenceApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.ChatCompletionChunk
import org.openapitools.client.models.ChatCompletionRequest
import org.openapitools.client.models.ChatMessage
import org.openapitools.client.models.ContentPart
import org.openapitools.client.models.ErrorResponse
import org.openapitools.client.models.StreamOptions
import kotlin.system.exitProcess

/* A program on the code that openapi-generator makes for Kotlin. */

val url: String = System.getenv("FAREGATE_URL")
val moshi: Moshi = Serializer.moshi

fun ask(content: Any, stream: Boolean? = null): ChatCompletionRequest =
    ChatCompletionRequest(
        model = "faregate-sim/small",
        messages = listOf(ChatMessage(role = "user", content = content)),
        stream = stream,
        streamOptions = stream?.let { StreamOptions(includeUsage = true) },
    )

fun chat(content: Any): Map<String, Any?> {
    val answer = InferenceApi(url).createChatCompletion(ask(content))
    return mapOf("text" to answer.choices.first().message.content, "cost" to answer.usage.cost)
}

/** The generated call reads one JSON answer, so a stream is read by the HTTP client, with the generated types. */
fun stream(): Map<String, Any?> {
    val json = moshi.adapter(ChatCompletionRequest::class.java).toJson(ask("Hello", stream = true))
    val request = Request.Builder().url("$url/chat/completions")
        .header("authorization", "Bearer ${ApiClient.accessToken}")
        .post(json.toRequestBody("application/json".toMediaType())).build()
    val events = OkHttpClient().newCall(request).execute().use { it.body.string() }
        .split("\n\n").map { it.removePrefix("data: ") }
    val chunks = events.filter { it.startsWith("{") }
        .mapNotNull { moshi.adapter(ChatCompletionChunk::class.java).fromJson(it) }
    val text = chunks.flatMap { it.choices }.joinToString("") { it.delta.content ?: "" }
    return mapOf("text" to text, "cost" to chunks.last().usage?.cost, "done" to ("[DONE]" in events))
}

fun refusal(): Map<String, Any?> {
    ApiClient.accessToken = System.getenv("FAREGATE_EMPTY_KEY")
    try {
        InferenceApi(url).createChatCompletion(ask("Hello"))
    } catch (error: ClientException) {
        val body = (error.response as ClientError<*>).body as String
        val code = moshi.adapter(ErrorResponse::class.java).fromJson(body)?.error?.code
        return mapOf("status" to error.statusCode, "code" to code)
    }
    error("It was not refused.")
}

fun main() {
    ApiClient.accessToken = System.getenv("FAREGATE_KEY")
    val shown = mapOf(
        "models" to InferenceApi(url).listModels().`data`.map { it.id },
        "spendable_usd" to AccountApi(url).getBalance().spendableUsd,
        "chat" to chat("Hello"),
        "parts" to chat(listOf(ContentPart(type = "text", text = "Hello"))),
        "stream" to stream(),
        "refusal" to refusal(),
    )
    println(moshi.adapter(Any::class.java).toJson(shown))
    // The pool of its HTTP client would keep the process for minutes.
    exitProcess(0)
}
