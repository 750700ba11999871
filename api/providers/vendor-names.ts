/** Vendors and servers that no caller may read of. Each is a name and nothing else. What wraps them adds `Exception` and the like. */
export const VENDOR_NAMES =
  /\b(?:hosted_)?(?:open\s?router|open\s?ai|anthropic|azure|microsoft|aws|amazon|bedrock|sagemaker|vertex(?:[\s_]?ai)?|google|gemini api|together\s?\.?ai|fireworks[\s_.]ai|groq|deep\s?infra|deep\s?seek|mistral(?:\s?ai)?|cohere|nebius|novita|perplexity[\s.]?ai|x\.?ai|cerebras|samba\s?nova|minimax|moonshot|z\.ai|alibaba|dashscope|volcengine|siliconflow|baidu|tencent|cloudflare|hugging\s?face|nvidia|friendli(?:\s?ai)?|lite\s?llm|vllm|sglang|ollama|llama[.-]cpp|llama-server|lm\s?studio|localai|tabbyapi|aphrodite|lmdeploy|tensorrt(?:-llm)?|text-generation-inference|databricks|watsonx|baseten|anyscale|runpod)(?:exception|error|chat)?\b/gi;

/** Names that are also everyday words when they are written in lower case. */
export const VENDOR_NAMES_THAT_ARE_WORDS =
  /\b(?:Together|TOGETHER|Fireworks|FIREWORKS|Perplexity|PERPLEXITY|Replicate|Chutes|Hyperbolic|Parasail|Baseten|Portkey|Helicone|Vercel)(?:AI)?(?:Exception|Error)?\b/g;
