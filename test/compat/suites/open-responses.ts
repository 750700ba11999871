import { type Check, type CompatClient, failed, passed } from '../client.ts';
import { judgeStreamed, judgeWhole, openResponsesCases, type Post } from '../open-responses/cases.ts';

export const openResponses: CompatClient = {
  id: 'open-responses',
  title: 'Open Responses, our cases after its compliance list',
  group: 'Public suites',
  packages: null,
  versionOf: null,
  speaks: 'responses',
  async run({ origin, accounts, modelId }) {
    const post: Post = (body) =>
      fetch(`${origin}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${accounts.paid}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: modelId, ...body }),
      });
    const checks: Check[] = [];
    for (const each of openResponsesCases)
      for (const [way, judge] of [
        ['whole', judgeWhole],
        ['streamed', judgeStreamed],
      ] as const) {
        const name = `${each.name}, ${way}`;
        checks.push(
          await judge(post, each).then(
            () => passed(name),
            (error) => failed(name, String(error)),
          ),
        );
      }
    return checks;
  },
};
