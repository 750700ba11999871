import { expect, test } from 'vitest';
import { MEDIA_YAML, startTestAdmin, YAML } from './admin-harness.ts';

test('shows providers, and models with exact prices', async () => {
  await using admin = await startTestAdmin();
  const { status, body } = await admin.get('/catalog');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    stopped: false,
    providers: [{ id: 'vllm', kind: 'openai', has_key: false, list: null }],
    models_found: 1,
    models: [
      {
        id: 'acme/small',
        endpoints: [
          { provider: 'vllm', model: 'small-2026', prompt_usd: '0.0000001', completion_usd: '0.0000004' },
        ],
      },
    ],
  });
});

test('searches models by their id and says how many there are', async () => {
  await using admin = await startTestAdmin();
  admin.file.text = YAML + YAML.slice(YAML.indexOf('  - id: acme')).replaceAll('acme/small', 'acme/large');
  await admin.post('/catalog/reload');
  const found = async (query: string) => {
    const { body } = await admin.get(`/catalog?${query}`);
    return [body.models_found, body.models.map((model: { id: string }) => model.id)];
  };
  expect(await found('search=large')).toEqual([1, ['acme/large']]);
  expect(await found('search=acme&limit=1')).toEqual([2, ['acme/small']]);
  expect(await found('search=nothing')).toEqual([0, []]);
});

test('shows models of images and videos with exact prices, each kind searched and limited by itself', async () => {
  await using admin = await startTestAdmin();
  admin.file.text = MEDIA_YAML;
  expect((await admin.post('/catalog/reload')).body).toMatchObject({ ok: true });
  const { body } = await admin.get('/catalog?search=acme');
  expect(body).toMatchObject({ models_found: 1, image_models_found: 1, video_models_found: 1 });
  expect(body.image_models).toEqual([
    {
      id: 'acme/painter',
      name: 'Acme Painter',
      provider: 'hub',
      model: 'painter-2026',
      pricing: [
        { billable: 'output_image', unit: 'image', usd: '0.02', variant: '1k' },
        { billable: 'input_text', unit: 'token', usd: '0.000000001' },
      ],
    },
  ]);
  expect(body.video_models).toEqual([
    {
      id: 'acme/clip',
      name: 'acme/clip',
      provider: 'hub',
      model: 'clip-2026',
      pricing: [
        { key: 'duration_seconds_720p', price: '0.050000000000000001' },
        { key: 'cents_per_image_input', price: '1.5' },
      ],
    },
  ]);
  const ids = async (query: string) => {
    const { models, image_models, video_models, video_models_found } = (await admin.get(`/catalog?${query}`))
      .body;
    const all = [...models, ...image_models, ...video_models];
    return [all.map((model: { id: string }) => model.id), video_models_found];
  };
  expect(await ids('limit=1')).toEqual([['acme/small', 'acme/painter', 'acme/clip'], 2]);
  expect(await ids('search=clip')).toEqual([['acme/clip', 'other/clip'], 2]);
  expect(await ids('search=nothing')).toEqual([[], 0]);
});

test('a reload takes a changed file at once', async () => {
  await using admin = await startTestAdmin();
  admin.file.text = YAML.replace('0.0000004', '0.0000009');
  const { body } = await admin.post('/catalog/reload');
  expect(body).toMatchObject({ ok: true, needs_restart: [], problems: [] });
  expect((await admin.get('/catalog')).body.models[0].endpoints[0].completion_usd).toBe('0.0000009');
});

test('a reload of a wrong file keeps what is in force, and says where the mistake is', async () => {
  await using admin = await startTestAdmin();
  admin.file.text = YAML.replace('contextLength', 'contextLenght');
  const { status, body } = await admin.post('/catalog/reload');
  expect(status).toBe(200);
  expect(body.ok).toBe(false);
  expect(body.message).toMatch(/faregate\.yaml:7/);
  expect((await admin.get('/catalog')).body.models[0].context_length).toBe(32768);
  const check = (await admin.get('/catalog/check')).body;
  expect(check).toMatchObject({ ok: false, problems: [body.message] });
});

test('a check warns of odd prices, and names a list that did not come', async () => {
  await using admin = await startTestAdmin();
  expect((await admin.get('/catalog/check')).body).toEqual({ ok: true, problems: [], warnings: [] });
  admin.file.text = YAML.replace('0.0000004', '0.4').replace(
    'models:',
    '  - { id: hub, kind: openrouter, baseUrl: http://hub:1/v1, catalog: import }\nmodels:',
  );
  const reload = (await admin.post('/catalog/reload')).body;
  expect(reload.problems).toEqual([expect.stringContaining('provider hub')]);
  const check = (await admin.get('/catalog/check')).body;
  expect(check.ok).toBe(false);
  expect(check.problems).toEqual(reload.problems);
  expect(check.warnings).toContainEqual(expect.stringContaining('per million tokens?'));
  const { providers } = (await admin.get('/catalog')).body;
  expect(providers[1]).toMatchObject({ id: 'hub', list: { last_success_at: null, served_models: 0 } });
});
