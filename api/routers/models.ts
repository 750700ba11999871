import { modelListExample } from '../contract/examples.ts';
import { ModelList } from '../contract/model-list.ts';
import { rawQuery, t } from './trpc.ts';

export const modelsRouter = t.router({
  list: rawQuery(
    {
      method: 'GET',
      path: '/models',
      operationId: 'listModels',
      tag: 'Inference',
      summary: 'List the models',
      description:
        'Every model that is served, in any of the three formats, with what it is charged by. One page; an `ETag` ' +
        'spares a client that has it already. A suffix may be added to any id: `:nitro`, `:floor`, `:exacto`.',
      errors: [],
      headers: ['x-service-call-id', 'x-request-id', 'etag', 'cache-control'],
      examples: { answer: modelListExample },
    },
    ModelList,
    (call) => call.deps.listModels(call),
  ),
});
