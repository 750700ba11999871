import { streamText } from '../simulator/raw-call.ts';
import { callBody, type Target } from './call.ts';

/** What a caller reads of one answer: a side that loses some of it would be the cheaper for that. */
export async function deliveredText(target: Target, model: string, stream: boolean): Promise<string> {
  const [authorization = ''] = target.authorizations;
  const res = await fetch(`${target.origin}${target.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization, ...target.headers },
    body: callBody(model, stream),
  });
  const text = await res.text();
  if (res.status !== 200) throw new Error(`${target.name} answered ${res.status}`);
  return stream ? streamText(text) : JSON.parse(text).choices[0].message.content;
}
