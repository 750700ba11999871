import type { Hidden } from '../../api/inference/scrub/scrub-words.ts';

/** The endpoint that every sentence below speaks of. */
export const hidden: Hidden = {
  provider: { id: 'acme-cluster', apiKey: 'token-abc123', baseUrl: 'http://vllm-0.acme.internal:8000/v1' },
  upstreamModel: 'acme-internal/Llama-3.1-70B-Instruct',
  publicModel: 'acme/large',
};

export interface WorstSentence {
  words: string;
  /** None of these may be shown, in any case. */
  secrets: string[];
  /** The part that helps the caller, which must be shown as it is. */
  kept?: string;
}

/**
 * Sentences in the shapes in which vendors, gateways and servers that operators run themselves have been reported to
 * answer, with values of our own: vLLM, SGLang, llama.cpp, Ollama, TGI, LiteLLM, Azure, Bedrock, Vertex AI, OpenAI and others.
 */
export const worstSentences: readonly WorstSentence[] = [
  // Hosts, ports and addresses.
  {
    words:
      'Cannot connect to host vllm-0.acme.internal:8000 ssl:default [Connection refused]; retry with fewer messages',
    secrets: ['vllm-0', 'acme.internal', '8000'],
    kept: 'retry with fewer messages',
  },
  {
    words:
      "HTTPConnectionPool(host='vllm-0.acme.internal', port=8000): Max retries exceeded with url: /v1/chat/completions",
    secrets: ['vllm-0', 'acme.internal', '8000'],
    kept: 'Max retries exceeded',
  },
  {
    words:
      "HTTPConnectionPool(host='10.42.7.9', port=11434): Max retries exceeded with url: /api/generate (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f6810324ee0>: Failed to establish a new connection: [Errno 111] Connection refused'))",
    secrets: ['10.42.7.9', '11434', '0x7f6810324ee0'],
    kept: 'Max retries exceeded',
  },
  {
    words: 'dial tcp 10.1.2.3:30000: connect: connection refused while sending messages.0.content',
    secrets: ['10.1.2.3', '30000'],
    kept: 'messages.0.content',
  },
  {
    words: 'read tcp 10.0.0.4:53512->172.20.3.8:8000: read: connection reset by peer',
    secrets: ['10.0.0.4', '53512', '172.20.3.8', '8000'],
    kept: 'connection reset by peer',
  },
  {
    words: 'upstream [fd12:3456:789a::1]:8080 refused the field temperature',
    secrets: ['fd12', '789a', '8080'],
    kept: 'refused the field temperature',
  },
  {
    words: 'listen on fe80::1ff:fe23:4567:890a%eth0 only, field stop is ignored',
    secrets: ['fe80', '890a', 'eth0'],
    kept: 'field stop is ignored',
  },
  {
    words: 'proxied from ::ffff:192.168.7.8 with max_tokens 5',
    secrets: ['192.168.7.8', 'ffff'],
    kept: 'with max_tokens 5',
  },
  {
    words: 'getaddrinfo ENOTFOUND gpu-worker-3.ml.svc.cluster.local while loading image',
    secrets: ['gpu-worker-3', 'cluster.local'],
    kept: 'while loading image',
  },
  {
    words: 'Name or service not known: http://triton.prod.svc:8001/v2/models, temperature is too high',
    secrets: ['triton', 'prod.svc', '8001'],
    kept: 'temperature is too high',
  },
  {
    words: 'request to host.docker.internal:1234 failed: model does not support tools',
    secrets: ['docker.internal', '1234'],
    kept: 'model does not support tools',
  },
  {
    words: 'worker vllm:8000 says that top_k must be positive',
    secrets: ['vllm', '8000'],
    kept: 'says that top_k must be positive',
  },
  {
    words: 'localhost:11434 does not support response_format',
    secrets: ['localhost', '11434'],
    kept: 'does not support response_format',
  },
  {
    words: 'Error from ip-10-20-30-40.eu-west-1.compute.internal: n must be 1',
    secrets: ['10-20-30-40', 'eu-west-1'],
    kept: 'n must be 1',
  },
  {
    words: 'The request was routed to gpu-7.rack2.dc-fra.acme (node acme-7) and refused: seed is too large',
    secrets: ['gpu-7', 'dc-fra'],
    kept: 'refused: seed is too large',
  },
  {
    words:
      'POST "http:\\/\\/vllm-0.acme.internal:8000\\/v1\\/chat\\/completions": 400 Bad Request, tools[0].name is too long',
    secrets: ['vllm-0', 'acme.internal'],
    kept: 'is too long',
  },
  {
    words: 'callback http%3A%2F%2Fvllm-0.acme.internal%3A8000%2Fv1 refused: prompt is empty',
    secrets: ['vllm-0', 'acme.internal'],
    kept: 'refused: prompt is empty',
  },
  {
    words: 'Bad gateway at &quot;http:&#x2F;&#x2F;VLLM-0.ACME.INTERNAL:8000&quot;: body is too large',
    secrets: ['vllm-0', 'acme.internal'],
    kept: 'body is too large',
  },
  {
    words: 'model_runner at tcp://192.168.1.20:29500 is busy, reduce n',
    secrets: ['192.168.1.20', '29500'],
    kept: 'is busy, reduce n',
  },
  {
    words: 'Redis redis-master.cache.svc.cluster.local:6379 lost the prompt cache for this request',
    secrets: ['redis-master', '6379', 'cluster.local'],
    kept: 'lost the prompt cache',
  },
  // Keys.
  {
    words: 'Incorrect API key provided: token-abc123. The parameter user is also invalid.',
    secrets: ['token-abc123', 'abc123'],
    kept: 'The parameter user is also invalid.',
  },
  {
    words: 'Incorrect API key provided: sk-PMafP***************************************E873.',
    secrets: ['sk-pmafp', 'e873'],
    kept: 'API key',
  },
  {
    words: 'Invalid key sk-...c123 for this deployment; field logprobs is unknown',
    secrets: ['c123', 'sk-'],
    kept: 'field logprobs is unknown',
  },
  { words: 'key ****c123 has no access to seed', secrets: ['c123'], kept: 'has no access to seed' },
  {
    words: 'Your key ending in abc123 cannot set logit_bias',
    secrets: ['abc123'],
    kept: 'cannot set logit_bias',
  },
  {
    words: 'headers: {"authorization": "Bearer token-abc123", "accept": "*/*"} and stop is invalid',
    secrets: ['token-abc123', 'abc123'],
    kept: 'stop is invalid',
  },
  {
    words:
      "litellm_params={'model': 'hosted_vllm/acme-internal/Llama-3.1-70B-Instruct', 'api_key': 'token-abc123', 'api_base': 'http://vllm-0.acme.internal:8000/v1'} unsupported: top_a",
    secrets: ['token-abc123', 'vllm', 'acme-internal', 'llama-3.1', 'acme.internal'],
    kept: 'unsupported: top_a',
  },
  {
    words: 'x-api-key: TOKEN-ABC123 was rejected; thinking.budget_tokens must be at least 1024',
    secrets: ['token-abc123'],
    kept: 'thinking.budget_tokens must be at least 1024',
  },
  {
    words: 'GET /v1/models?key=token%2Dabc123 failed; n is not allowed',
    secrets: ['token-abc123', 'abc123'],
    kept: 'n is not allowed',
  },
  {
    words: 'curl -H "Authorization: Bearer " token-"abc"123 gave 400: bad role',
    secrets: ['abc123', 'token-'],
    kept: 'bad role',
  },
  {
    words: 'HUGGING_FACE_HUB_TOKEN=hf_AbCdEfGh1234 is not valid, image_url must be a link',
    secrets: ['hf_abcdefgh1234'],
    kept: 'image_url must be a link',
  },
  {
    words: 'AWS key AKIAIOSFODNN7EXAMPLE has no such permission; max_tokens must be lower',
    secrets: ['akiaiosfodnn7example'],
    kept: 'max_tokens must be lower',
  },
  {
    words:
      'signed by eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl and expired; messages must not be empty',
    secrets: ['eyjhbgcioi', 'c2lnbmf0dxjl'],
    kept: 'messages must not be empty',
  },
  {
    words: 'password=hunter2 for litellm db; unknown parameter: top_z',
    secrets: ['hunter2', 'litellm'],
    kept: 'unknown parameter: top_z',
  },
  {
    words: 'Invalid proxy server token passed. Received=sk-localdev, expected to start with sk-',
    secrets: ['sk-localdev'],
    kept: 'Invalid proxy server token passed',
  },
  { words: 'dG9rZW4tYWJjMTIz is no base64 image', secrets: ['dg9rzw4tywjjmtiz'], kept: 'is no base64 image' },
  // The model's id at the provider.
  {
    words: 'The model `acme-internal/Llama-3.1-70B-Instruct` does not support tools.',
    secrets: ['acme-internal', 'llama-3.1'],
    kept: 'The model `acme/large` does not support tools.',
  },
  {
    words: 'LLAMA-3.1-70b-instruct has a maximum of 8192 output tokens',
    secrets: ['llama-3.1'],
    kept: 'acme/large has a maximum of 8192 output tokens',
  },
  {
    words: 'No adapter for models--acme-internal--Llama-3.1-70B-Instruct, remove logit_bias',
    secrets: ['llama-3.1', 'acme-internal'],
    kept: 'remove logit_bias',
  },
  {
    words: '"acme-internal\\/Llama-3.1-70B-Instruct" is not a multimodal model',
    secrets: ['llama-3.1', 'acme-internal'],
    kept: 'is not a multimodal model',
  },
  {
    words: "'acme-internal' '/Llama-3.1-70B-Instruct' takes no images",
    secrets: ['acme-internal', 'llama-3.1'],
    kept: 'takes no images',
  },
  {
    words:
      'litellm.BadRequestError: OpenAIException - acme-internal%2FLlama-3.1-70B-Instruct: prompt too short',
    secrets: ['litellm', 'openai', 'acme-internal', 'llama-3.1'],
    kept: 'prompt too short',
  },
  // Paths and traces.
  {
    words: "Failed to load model '/mnt/acme/models/Llama-3.1.gguf': response_format is not supported",
    secrets: ['/mnt', 'gguf'],
    kept: 'response_format is not supported',
  },
  {
    words: "Can't open C:\\Service\\acme\\AppData\\Local\\Temp\\order.json while reading image 2",
    secrets: ['service', 'appdata', 'acme\\'],
    kept: 'while reading image 2',
  },
  {
    words: 'Can\'t open "C:\\\\new\\\\tables\\\\x.bin", field n is wrong',
    secrets: ['new\\', 'tables', 'x.bin'],
    kept: 'field n is wrong',
  },
  {
    words: 'share \\\\fileserver\\weights is offline; stop takes four texts',
    secrets: ['fileserver', 'weights'],
    kept: 'stop takes four texts',
  },
  {
    words:
      'Traceback (most recent call last):\n  File "/usr/local/lib/python3.12/dist-packages/vllm/entrypoints/openai/serving_chat.py", line 183, in create_chat_completion\n    conversation = await self._preprocess_chat(request)\nValueError: temperature must be non-negative',
    secrets: ['/usr', 'python3.12', 'serving_chat', 'vllm', '_preprocess_chat'],
    kept: 'ValueError: temperature must be non-negative',
  },
  {
    words:
      'Traceback (most recent call last):\\n  File \\"/app/server.py\\", line 12, in generate\\nKeyError: \'role\'',
    secrets: ['/app', 'server.py'],
    kept: "KeyError: 'role'",
  },
  {
    words:
      'TypeError: Cannot read properties of undefined (reading content) at Object.create (/srv/proxy/dist/index.js:210:17) at processTicks (node:internal/process/task_queues:95:5)',
    secrets: ['/srv', 'index.js', 'task_queues'],
    kept: 'Cannot read properties of undefined',
  },
  {
    words:
      'java.lang.IllegalArgumentException: top_p out of range at com.acme.llm.Gateway.check(Gateway.java:88)',
    secrets: ['gateway.java', 'com.acme'],
    kept: 'top_p out of range',
  },
  {
    words:
      "thread 'tokio-runtime-worker' panicked at /build/router/src/validation.rs:120:9: `best_of` must be > 0",
    secrets: ['/build', 'validation.rs'],
    kept: '`best_of` must be > 0',
  },
  {
    words: 'goroutine 77 [running]: main.go:31 +0x1b4f2a3 invalid role',
    secrets: ['goroutine', 'main.go', '0x1b4f2a3'],
    kept: 'invalid role',
  },
  {
    words: 'jinja2.exceptions.UndefinedError in ~/models/templates/chat.jinja: message has no role',
    secrets: ['~/models', 'chat.jinja'],
    kept: 'message has no role',
  },
  {
    words: 'see ./logs/server.log and ../weights/shard-1.safetensors; input is too short',
    secrets: ['server.log', 'shard-1', 'weights'],
    kept: 'input is too short',
  },
  {
    words: 'unlink /var/run/llama/slot0.sock failed, temperature ignored',
    secrets: ['/var', 'slot0'],
    kept: 'temperature ignored',
  },
  // Accounts, organizations, resources.
  {
    words: 'Rate limit for gpt in organization org-acme7f3k9 on tokens: shorten the prompt',
    secrets: ['org-acme7f3k9'],
    kept: 'shorten the prompt',
  },
  {
    words: "Account 'acme-research' has no access to reasoning_effort",
    secrets: ['acme-research'],
    kept: 'has no access to reasoning_effort',
  },
  {
    words: 'Organization: AcmeResearch has disabled store; remove the field store',
    secrets: ['acmeresearch'],
    kept: 'remove the field store',
  },
  {
    words: 'Project `acme-prod-llm` (number 740989871600) may not use logprobs',
    secrets: ['acme-prod-llm', '740989871600'],
    kept: 'may not use logprobs',
  },
  {
    words: 'Publisher Model `projects/acme-devtest/locations/global/publishers/acme/models/x` rejects n',
    secrets: ['acme-devtest', 'publishers'],
    kept: 'rejects n',
  },
  {
    words: 'User: arn:aws:sts::123456789012:assumed-role/AcmeRole/Sage is not authorized; top_k is unknown',
    secrets: ['arn:', '123456789012', 'acmerole'],
    kept: 'top_k is unknown',
  },
  {
    words:
      'Model arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/yj8cdgc1r9gz needs toolConfig',
    secrets: ['123456789012', 'yj8cdgc1r9gz', 'bedrock'],
    kept: 'needs toolConfig',
  },
  {
    words: 'billing contact ops@acme.example must accept terms before seed is allowed',
    secrets: ['ops@', 'acme.example'],
    kept: 'before seed is allowed',
  },
  {
    words: 'Resource /subscriptions/1f2e3d4c-0000-4444-8888-aabbccddeeff/resourceGroups/acme refuses seed',
    secrets: ['1f2e3d4c', 'resourcegroups'],
    kept: 'refuses seed',
  },
  {
    words:
      'AzureException BadRequestError - Resource acme-eastus.openai.azure.com: unsupported data type in content[1]',
    secrets: ['azure', 'acme-eastus'],
    kept: 'unsupported data type in content',
  },
  {
    words: 'Workspace wrkspc_01ABCdef2345 has no web search; remove tools[0]',
    secrets: ['wrkspc_01abcdef2345'],
    kept: 'has no web search',
  },
  {
    words: 'team_id=team-9f8e7d6c over budget for acme-cluster: lower max_tokens',
    secrets: ['9f8e7d6c', 'acme-cluster'],
    kept: 'lower max_tokens',
  },
  {
    words: 'request_id: req_011CSHoEeqs5C35K2UUqR7Fy tool_choice is invalid',
    secrets: ['req_011'],
    kept: 'tool_choice is invalid',
  },
  // Names of vendors and of what they run.
  {
    words: 'OpenRouter: Provider returned error from DeepInfra: messages[2].role is invalid',
    secrets: ['openrouter', 'deepinfra'],
    kept: '.role is invalid',
  },
  {
    words: 'Hosted_vllmException - This model does not support audio',
    secrets: ['vllm'],
    kept: 'This model does not support audio',
  },
  {
    words: 'VertexAIException BadRequestError - function_declarations[0].name is invalid',
    secrets: ['vertex'],
    kept: '.name is invalid',
  },
  {
    words: 'Groq and Together refuse logprobs; Hugging Face TGI does too',
    secrets: ['groq', 'together', 'hugging'],
    kept: 'refuse logprobs',
  },
  {
    words: 'llama.cpp server build 6428 rejects json_schema.properties',
    secrets: ['llama.cpp'],
    kept: 'rejects json_schema.properties',
  },
  // What stands before or behind a part that was removed literally.
  {
    words: 'proxy acme-proxy.acme.internal:3128 answered 407; leave out `store`',
    secrets: ['3128', 'acme-proxy', 'acme.internal'],
    kept: 'leave out `store`',
  },
  {
    words: 'see wiki.vllm-0.acme.internal/ml or vllm-0.acme.internal.:8000, and send fewer tools',
    secrets: ['wiki', '8000', 'acme.internal'],
    kept: 'send fewer tools',
  },
  {
    words: 'svc_ml@acme.internal may not set seed',
    secrets: ['svc_ml', 'acme.internal'],
    kept: 'may not set seed',
  },
  // Settings, paths and accounts in other spellings.
  {
    words: 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIbPxRfiCY and HF_TOKEN=abcdef12 are wrong, top_k is unknown',
    secrets: ['wJalrXUtnFEMIbPxRfiCY', 'abcdef12'],
    kept: 'top_k is unknown',
  },
  {
    words: 'D:/Staff/bob/models/large.bin and $HOME/.cache/weights have no chat template; send one role',
    secrets: ['bob', '$HOME', '.cache', 'weights'],
    kept: 'have no chat template; send one role',
  },
  {
    words: 'Max retries exceeded with url: /generate_stream (temperature is 3)',
    secrets: ['generate_stream'],
    kept: 'temperature is 3',
  },
  {
    words: 'password authentication failed for user "blue_prod"; n has to be 1',
    secrets: ['blue_prod'],
    kept: 'n has to be 1',
  },
  {
    words: 'Llama 3.1 70B Instruct takes no audio',
    secrets: ['llama', '70b'],
    kept: 'takes no audio',
  },

  // Frames of traces that name no path, or not with a line.
  {
    words:
      'panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nmain.(*Server).handle(0xc000123456, {0x1, 0x2})\n\t/src/server.go:57 +0x1d\nstop is too long',
    secrets: ['main.', '(*Server)', 'handle', 'goroutine', 'server.go', '0xc000123456'],
    kept: 'stop is too long',
  },
  {
    words: 'goroutine 1 [running]: main.(*Server).handle(...) created by main.main; top_k is too large',
    secrets: ['main.', 'Server', 'goroutine', 'handle'],
    kept: 'top_k is too large',
  },
  {
    words: 'goroutine 27 [select, 3 minutes]: net/http.(*persistConn).readLoop(0xc0001) exit: n is too large',
    secrets: ['persistConn', 'readLoop', 'goroutine', 'net/http'],
    kept: 'n is too large',
  },
  {
    words: 'github.com/acme/router/pkg/proxy.(*Balancer).pick(...): temperature is too high',
    secrets: ['acme', 'Balancer', 'github.com'],
    kept: 'temperature is too high',
  },
  {
    words:
      'java.lang.NullPointerException: seed is missing\n\tat com.acme.infer.Foo.bar(Foo.java:12)\n\tat com.acme.Main.main(Main.java)\n\t... 12 more',
    secrets: ['com.acme', 'Foo.java', 'NullPointerException', 'java.lang', 'Main'],
    kept: 'seed is missing',
  },
  {
    words: 'io.grpc.StatusRuntimeException: UNAVAILABLE: io exception; retry with fewer messages',
    secrets: ['io.grpc', 'StatusRuntimeException'],
    kept: 'retry with fewer messages',
  },
  {
    words:
      'at com.acme.Foo.bar(Foo.java:12) at com.acme.Foo$Inner.lambda$run$0(Foo.kt) at sun.reflect.Method.invoke(Unknown Source): n must be 1',
    secrets: ['acme', 'Foo', 'lambda', 'sun.reflect'],
    kept: 'n must be 1',
  },
  {
    words:
      "thread 'tokio-runtime-worker' panicked at src/router.rs:88:13: called `Result::unwrap()` on an `Err` value; prompt is empty",
    secrets: ['router.rs', 'tokio-runtime-worker', 'panicked'],
    kept: 'prompt is empty',
  },
  {
    words:
      '   4: axum::serve::handler::{{closure}}\n   5: tokio::runtime::task::core::poll\n             at ./src/lib.rs:90\nstop must be a list',
    secrets: ['axum', 'tokio', 'lib.rs', '{{closure}}'],
    kept: 'stop must be a list',
  },
  {
    words:
      'stack backtrace: 0: rust_begin_unwind 1: core::panicking::panic_fmt 2: acme_infer::engine::step - n is too large',
    secrets: ['rust_begin_unwind', 'panic_fmt', 'acme_infer', 'engine'],
    kept: 'n is too large',
  },
  { words: 'File "x.py", line 3, in f', secrets: ['x.py', 'line 3', 'in f'] },
  {
    words: 'File "handlers.py", line 3, in forward_chat\nKeyError: messages.0.content is missing',
    secrets: ['handlers.py', 'forward_chat', 'line 3'],
    kept: 'messages.0.content is missing',
  },
  {
    words: 'File x.py, line 31, in route_request: ValueError: seed is too large',
    secrets: ['x.py', 'route_request'],
    kept: 'seed is too large',
  },
  {
    words:
      'at Object.<anonymous> (evalmachine.js:3:9) at async Promise.all (index 0) at processTicksAndRejections (node:internal/process/task_queues:95:5): bad stop',
    secrets: ['evalmachine', 'task_queues', 'Promise.all', 'processTicks'],
    kept: 'bad stop',
  },
  {
    words: "in app/services/llm.rb:42:in `call': temperature must be at most 2",
    secrets: ['app/services', 'llm.rb', 'services/llm'],
    kept: 'temperature must be at most 2',
  },
  {
    words: 'com.acme.gateway.Handler.call(Handler.java:42) stop has too many entries',
    secrets: ['com.acme', 'Handler'],
    kept: 'stop has too many entries',
  },
  {
    words: 'o.a.infer.Worker$Pool.run(Worker.kt) n must be 1',
    secrets: ['infer', 'Worker', 'Pool'],
    kept: 'n must be 1',
  },
  {
    words: "from app.rb:12:in `forward': undefined method `dig' for nil (NoMethodError); stop is too long",
    secrets: ['app.rb', 'forward'],
    kept: 'stop is too long',
  },
  {
    words: '#0 Proxy.php(41): Acme\\Router->send() #1 {main}: bad seed',
    secrets: ['Proxy.php', 'Acme', 'Router->send'],
    kept: 'bad seed',
  },
  {
    words:
      'System.Net.Http.HttpRequestException: n must be 1\n   at Acme.Router.SendAsync(Request r) in Router.cs:line 55',
    secrets: ['HttpRequestException', 'Acme', 'Router.cs', 'SendAsync', 'System.Net'],
    kept: 'n must be 1',
  },
  // Libraries of a server's client, which tell that it is a proxy and of what kind.
  {
    words:
      '<urllib3.connection.HTTPSConnection object>: Failed to resolve; urllib3.exceptions.MaxRetryError, retry with fewer messages',
    secrets: ['urllib3', 'MaxRetryError', 'HTTPSConnection'],
    kept: 'retry with fewer messages',
  },
  {
    words: 'httpx.ReadTimeout: the messages are too long',
    secrets: ['httpx', 'ReadTimeout'],
    kept: 'the messages are too long',
  },
  {
    words: 'httpcore.ConnectError: All connection attempts failed while sending tools[0]',
    secrets: ['httpcore', 'ConnectError'],
    kept: 'while sending tools[0]',
  },
  {
    words: 'aiohttp.client_exceptions.ClientConnectorError: n must be 1',
    secrets: ['aiohttp', 'ClientConnectorError', 'client_exceptions'],
    kept: 'n must be 1',
  },
  {
    words: 'requests.exceptions.ConnectionError: top_p must be positive',
    secrets: ['requests.exceptions', 'ConnectionError'],
    kept: 'top_p must be positive',
  },
  {
    words:
      'botocore.exceptions.ClientError: An error occurred (ValidationException) when calling the InvokeModel operation: max_tokens is too large',
    secrets: ['botocore', 'InvokeModel'],
    kept: 'max_tokens is too large',
  },
  {
    words: 'grpc._channel._InactiveRpcError: stop is too long',
    secrets: ['grpc', '_InactiveRpcError'],
    kept: 'stop is too long',
  },
  {
    words: 'reqwest::Error { kind: Request, source: hyper::Error(Connect) } for field seed',
    secrets: ['reqwest', 'hyper'],
    kept: 'for field seed',
  },
  {
    words: 'undici: UND_ERR_CONNECT_TIMEOUT while reading tools',
    secrets: ['undici', 'UND_ERR'],
    kept: 'while reading tools',
  },
  {
    words: 'AxiosError: Request failed with status code 400, stop is too long',
    secrets: ['axios'],
    kept: 'stop is too long',
  },
  {
    words: 'User-Agent: python-httpx/0.27.0 openai-python/1.40 sent n=2',
    secrets: ['httpx', 'openai'],
    kept: 'n=2',
  },
  // Addresses in other spellings.
  {
    words: 'peer fe80::1%eth0 closed, seed is too large',
    secrets: ['fe80', 'eth0'],
    kept: 'seed is too large',
  },
  {
    words: 'peer [fe80::1%25eno1]:8443 closed, seed is too large',
    secrets: ['fe80', 'eno1', '8443'],
    kept: 'seed is too large',
  },
  {
    words: 'connect to fe80::a00:27ff:fe4e:66a1%docker0:30000 refused; n must be 1',
    secrets: ['fe80', '66a1', 'docker0', '30000'],
    kept: 'n must be 1',
  },
  {
    words: 'router.ml.svc.cluster.local. does not know top_k',
    secrets: ['router', 'cluster.local', 'ml.svc'],
    kept: 'does not know top_k',
  },
  { words: 'triton.ml.svc refused: n must be 1', secrets: ['triton', 'ml.svc'], kept: 'n must be 1' },
  {
    words: 'pod vllm-7f9c6d5b8-x2x4z of node gke-prod-pool-1-ab12 refused top_k',
    secrets: ['7f9c6d5b8', 'x2x4z', 'gke-prod', 'ab12'],
    kept: 'refused top_k',
  },
  {
    words: '0.0.0.0:8000, 2130706433 and 0x7f000001 refuse top_k',
    secrets: ['0.0.0.0', '8000', '0x7f000001'],
    kept: 'refuse top_k',
  },
  {
    words: 'http://[::1]:8000/v1 and [::ffff:10.0.0.1]:80 take no seed',
    secrets: ['::1', '8000', '10.0.0.1'],
    kept: 'take no seed',
  },
  // Accounts and resources.
  {
    words: 'Rate limit for org-AbCdEfGhIjKl on proj_ZyXwVuTsRq: reduce max_tokens',
    secrets: ['org-', 'AbCdEf', 'proj_', 'ZyXwVu'],
    kept: 'reduce max_tokens',
  },
  {
    words: 'organization org_2f9ac81b and project proj-7781 cannot set seed',
    secrets: ['2f9ac81b', '7781'],
    kept: 'cannot set seed',
  },
  {
    words: 'subscription 3f2504e0-4f89-11d3-9a0c-0305e82c3301 has no quota, reduce n',
    secrets: ['3f2504e0', '0305e82c3301'],
    kept: 'reduce n',
  },
  {
    words: 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.acme.large is not available for stop',
    secrets: ['arn', 'us-east-1', '123456789012', 'us.acme'],
    kept: 'is not available for stop',
  },
  {
    words: 'arn:aws-us-gov:sagemaker:us-gov-west-1:123456789012:endpoint/large: bad seed',
    secrets: ['arn', 'us-gov', '123456789012'],
    kept: 'bad seed',
  },
  {
    words: 'Quota for projects/acme-prod/locations/us-central1/publishers/acme/models/large: reduce n',
    secrets: ['acme-prod', 'us-central1', 'publishers'],
    kept: 'reduce n',
  },
  {
    words: '//aiplatform.googleapis.com/projects/1234567890/locations/global refuses seed',
    secrets: ['googleapis', '1234567890', 'global'],
    kept: 'refuses seed',
  },
  {
    words:
      '/subscriptions/3f2504e0/resourceGroups/rg-acme/providers/Microsoft.CognitiveServices refuses seed',
    secrets: ['3f2504e0', 'rg-acme', 'Microsoft'],
    kept: 'refuses seed',
  },
  {
    words: 'quota metric aiplatform.googleapis.com%2Fonline_requests in region us-east4 is used up, reduce n',
    secrets: ['googleapis'],
    kept: 'reduce n',
  },
  {
    words: 'customer cus_Nffrfeufnv4ibg has no plan; seed is refused',
    secrets: ['Nffrf'],
    kept: 'seed is refused',
  },
  {
    words: 'consumer project_number:998877665544 may not set n',
    secrets: ['998877665544'],
    kept: 'may not set n',
  },
  // Request ids.
  {
    words: 'request id: req_acme-gpu-7.internal_8f2, n is too large',
    secrets: ['req_', 'acme', 'gpu-7', '8f2'],
    kept: 'n is too large',
  },
  {
    words: 'request_id=gpu-7.acme.internal-20260101-42 says n is too large',
    secrets: ['gpu-7', 'acme.internal', '20260101-42'],
    kept: 'says n is too large',
  },
  {
    words: 'trace id 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7: n is too large',
    secrets: ['4bf92f', '00f067aa'],
    kept: 'n is too large',
  },
  {
    words: 'x-request-id: gke-node-3/7781, cf-ray: 8a1b2c3d4e5f6789-FRA; seed is too large',
    secrets: ['gke-node', '7781', '8a1b2c3d', 'FRA'],
    kept: 'seed is too large',
  },
  // Keys.
  {
    words: 'Incorrect API key provided: sk-ab***xy. Field user is ignored',
    secrets: ['sk-ab', 'xy'],
    kept: 'Field user is ignored',
  },
  {
    words: 'key sk-ab•••••xy and sk-****-xy and sk_live_xx**99 may not set seed',
    secrets: ['sk-ab', 'sk_live', '99'],
    kept: 'may not set seed',
  },
  { words: 'Authorization: Bearer abcDEF123ghi; n must be 1', secrets: ['abcDEF123'], kept: 'n must be 1' },
  { words: 'bearer=abcDEF123ghi: n must be 1', secrets: ['abcDEF123'], kept: 'n must be 1' },
  { words: 'Authorization: Basic dXNlcjpwYXNz; n must be 1', secrets: ['dXNlcjpwYXNz'], kept: 'n must be 1' },
  {
    words: 'header Basic dXNlcjpwYXNz was refused; n must be 1',
    secrets: ['dXNlcjpwYXNz'],
    kept: 'n must be 1',
  },
  { words: 'AKIAIOSFODNN7EXAMPLE may not call InvokeModel with n', secrets: ['AKIAIOS'], kept: 'with n' },
  {
    words: 'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhY21lIn0.c2lnbmF0dXJl expired; seed is refused',
    secrets: ['eyJ', 'c2lnbmF0'],
    kept: 'seed is refused',
  },
  {
    words: 'https://svc:hunter2@router.acme.dev/v1 refuses n',
    secrets: ['svc', 'hunter2', 'router', 'acme'],
    kept: 'refuses n',
  },
  {
    words: 'proxy svc:hunter2@router:8080 refuses n',
    secrets: ['svc', 'hunter2', 'router', '8080'],
    kept: 'refuses n',
  },
  {
    words: 'postgres://acme:pw@db/acme and redis://:pw@cache:6379/0 are down, reduce n',
    secrets: ['acme', 'pw@', 'cache'],
    kept: 'reduce n',
  },
  {
    words: 'x-api-key: 4f5e6d7c8b9a and api-key=4f5e6d7c8b9a cannot set n',
    secrets: ['4f5e6d7c'],
    kept: 'cannot set n',
  },
  {
    words: 'AIzaSyA-1234567890abcdefghijklmnopqrstu, ya29.a0AfH6SMBx and hf_abcdEFGHijkl1234 cannot set n',
    secrets: ['AIza', 'ya29', 'hf_'],
    kept: 'cannot set n',
  },
  {
    words:
      'AWS4-HMAC-SHA256 Credential=ASIAXYZ12345678/20260101/us-east-1/bedrock/aws4_request, Signature=fe5f80f77d5fa3beca038a248ff027d0: n must be 1',
    secrets: ['ASIAXYZ', '20260101', 'bedrock', 'fe5f80f7'],
    kept: 'n must be 1',
  },
  {
    words: 'sig=aGVsbG8gd29ybGQgaGVsbG8%3D&se=2026-01-01 in the link: image is too large',
    secrets: ['aGVsbG8'],
    kept: 'image is too large',
  },
];

/** Sentences of refusals that must reach the caller letter by letter, because each part of them says what to change. */
export const usefulSentences: readonly string[] = [
  "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
  'messages.1.content.0.tool_use_id: Field required',
  'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
  'max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens',
  'max_tokens must be greater than thinking.budget_tokens.',
  'tools.0.custom.input_schema.type: Field required',
  "Invalid schema for function 'get_weather': In context=('properties', 'city'), 'type' is required.",
  "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
  'temperature and top_p cannot be used together',
  'top_p must be in (0, 1], got 1.5.',
  'n must be at most 1, got 4',
  'Conversation roles must alternate user/assistant/user/assistant/...',
  'An assistant message with tool_calls must be followed by tool messages responding to each tool_call_id.',
  'No tool output found for function call call_9fQk2LmZx81.',
  '1 validation error for ChatCompletionRequest: seed: Input should be a valid integer, got 1.5',
  'response_format.json_schema.schema.properties.city: unknown keyword "typ"',
  'Invalid JSON schema at /properties/items/0/type: "strng" is not a type',
  '#/properties/a/b is not a valid reference',
  '$.messages[3].content[1].image_url.url must be a string',
  'image_url must be an image/png, image/jpeg or image/webp; image 2 is 9000x12000 pixels',
  'The image is too large: 4096x4096, at most 2048x2048 (ratio 16:9).',
  'Only one of tool_choice and response_format may be set.',
  'The prompt is empty or was rejected.',
  'stop: too many entries, at most 4',
  'logit_bias: token id 128256 is out of range [0, 128000)',
  'This model is only supported in /v1/responses and not in /v1/chat/completions.',
  'The fields a, b and c cannot all be null.',
  'gpt-4.1 does not take `reasoning_effort`; use gpt-4.1-mini or o4-mini.',
  'Version 2024-10-21 of the schema does not know json_schema (strict: true).',
  'Expected `,` or `}` at line 1 column 57 of the arguments of call 2',
  'Template error in message 3: role "critic" is unknown, use system, user, assistant or tool',
  'The audio is 12:30 long, at most 10:00 is taken.',
  'Extra inputs are not permitted: messages.0.name, top_k',
  'e.g. a value between 0.0 and 2.0, i.e. not -0.1',
  'Requested max_tokens:4096 but only 2048 are left.',
  'cache_control.ttl must be one of 5m, 1h',
  'thinking.type: Input should be "enabled", "disabled" or "adaptive"',
  'function get_current_weather_by_city_v2 is declared twice',
  'reasoning.effort "xhigh" is not supported, use low, medium or high',
  'prediction.content must be a text of at most 10.5 MB',
  'Your account of tokens does not add up: completion 5, budget 3',
  'The project of this prompt is unclear: the text must not be blank.',
  'You have to set stream_options.include_usage to true or leave it out.',
  'The system message must be the first, found at messages[2].',
  'audio.format has to be wav or mp3; the file report.pdf is a document',
  "For user 'assistant' turns must follow; roles are 'user', 'assistant'",
  'Set $defs/Node or #/$defs/Node, not $ref: /Node',
  'token=3 of 4 is not allowed here; max_token: 5',
  'Requested aspect ratio 21:9 and size 1536x1024 are invalid, use 1:1, 3:2 or 16:9.',
  "input[3].image_url: Expected a data URL with an image MIME type, got 'text/html'",
  'At least one message must have content (got none) at messages.2.content (expected a string)',
  'Basic validation failed: stop must be a list',
  'The request id must be a text of at most 64 characters; request 3 of 5 is too long',
  'ValueError: the field seed must be an integer (KeyError)',
  'Basic plans of a tool may not name more than 128 parameters',
  'Error: tools[0].function.parameters.type is missing, see response_format.json_schema (strict)',
  'The trace of the image is empty, and its thread is not closed',
  'created by the caller: metadata.user_id must be a string (...)',
];
