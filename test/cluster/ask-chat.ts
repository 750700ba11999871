import { type Agent, request } from 'undici';
import { type NanoUsd, parseNanoUsd } from '#core/money.ts';

/** One call of chat completions, as its caller sees it. */
export interface ChatAnswer {
  status: number;
  callId: number;
  /** The provider's name for it. */
  generationId: string | null;
  /** As much as came. */
  text: string;
  /** What it says that it cost; what was shown before a cut counts like the rest. */
  costNanoUsd: NanoUsd | null;
  /** `left`: by its caller. */
  end: 'whole' | 'cut' | 'left';
}

export interface ChatQuestion {
  dispatcher: Agent;
  /** Ends in `/v1`. */
  baseUrl: string;
  key: string;
  body: object;
  onByte?: () => void;
  /** Leaves with the first byte of the answer. */
  leaves?: boolean;
  giveUpMs?: number;
}

/** Rejects where nothing came at all. */
export async function askChat(question: ChatQuestion): Promise<ChatAnswer> {
  const { dispatcher, baseUrl, key, giveUpMs } = question;
  const { statusCode, headers, body } = await request(`${baseUrl}/chat/completions`, {
    dispatcher,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(giveUpMs === undefined ? {} : { headersTimeout: giveUpMs, bodyTimeout: giveUpMs }),
    body: JSON.stringify(question.body),
  });
  let text = '';
  let end: ChatAnswer['end'] = 'whole';
  try {
    for await (const chunk of body) {
      question.onByte?.();
      text += chunk;
      if (question.leaves === true && statusCode === 200) {
        end = 'left';
        break;
      }
    }
  } catch {
    end = 'cut';
  }
  return {
    status: statusCode,
    callId: Number(headers['x-service-call-id']),
    generationId: String(headers['x-generation-id'] ?? '') || null,
    text,
    costNanoUsd: statusCode === 200 ? parseNanoUsd(/"cost":([\d.]+)[,}]/.exec(text)?.[1] ?? '') : null,
    end,
  };
}
