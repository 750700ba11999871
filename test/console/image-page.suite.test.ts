import { expect, it } from 'vitest';
import { phone } from './console-page.ts';
import { fakeMedia, imageModel } from './fake-media.ts';
import { describeInBrowser, sees } from './in-browser.ts';

/** What a gateway may answer, and what a person then reads; `media.suite.test.ts` tries it with real images. */
describeInBrowser('the page of images', ({ gateway, show }) => {
  async function open(models: unknown[] = [imageModel()]) {
    const console = await show({ agent: await gateway().newAgent(), page: 'balance', viewport: phone });
    const fake = await fakeMedia(console.context, { images: models });
    await console.open('pictures');
    await sees(console, 'per image made');
    return { console, page: console.page, fake };
  }

  it('has a field for each parameter of the model, and sends exactly what was chosen', async () => {
    const { console, page, fake } = await open();
    fake.images = ['/files/pictures/fake1', '/files/pictures/fake2'];
    await sees(console, '$0.04 per image made (2k)');
    await page.getByLabel('How many').fill('2');
    await page.getByLabel('Aspect ratio').selectOption('16:9');
    await page.getByLabel('Background').selectOption('true');
    await page.getByLabel('Background').selectOption('Automatic');
    expect(await page.getByLabel('Input references').count()).toBe(0);
    await page.getByLabel('Images to look at').fill('https://example.com/a.png\n');
    await page.getByLabel('What to show').fill('A harbour at dawn');
    await page.getByRole('button', { name: 'Make images' }).click();
    await sees(console, /Charged \$0\.04\s?0000001/);
    expect(fake.orders.map(({ body }) => body)).toEqual([
      {
        ...{ model: 'fake/image', prompt: 'A harbour at dawn', n: 2, aspect_ratio: '16:9' },
        input_references: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
      },
    ]);
    await page.getByRole('img', { name: 'Image 2 of 2: A harbour at dawn' }).waitFor();
    const widths =
      'Promise.all([...document.images].map((each) => each.decode().then(() => each.naturalWidth)))';
    expect(await page.evaluate(widths)).toEqual([64, 64]);
    await sees(console, 'Link ends in');
  });

  it('sends nothing that was chosen for another model', async () => {
    const { console, page, fake } = await open([
      imageModel(),
      imageModel({ id: 'fake/other', parameters: { aspect_ratio: { type: 'enum', values: ['1:1'] } } }),
    ]);
    await page.getByLabel('How many').fill('2');
    await page.getByLabel('Aspect ratio').selectOption('16:9');
    await page.getByLabel('Model').fill('fake/other');
    await page.getByLabel('What to show').fill('A boat');
    await page.getByRole('button', { name: 'Make images' }).click();
    await sees(console, 'Charged');
    expect(fake.orders.map(({ body }) => body)).toEqual([{ model: 'fake/other', prompt: 'A boat' }]);
  });

  it('takes no number outside of the bounds', async () => {
    const { page, fake } = await open();
    await page.getByLabel('How many').fill('5');
    await page.getByLabel('What to show').fill('A boat');
    await page.getByRole('button', { name: 'Make images' }).click();
    expect(await page.evaluate('document.querySelectorAll("input:invalid").length')).toBe(1);
    expect(fake.orders).toEqual([]);
  });

  it('keeps a place for each image before it is there, and says so of one that does not come', async () => {
    const { console, page, fake } = await open();
    fake.images = ['/files/pictures/gone'];
    await console.context.route('**/files/pictures/gone', (route) =>
      route.fulfill({ status: 403, body: '' }),
    );
    await page.getByLabel('What to show').fill('A boat');
    await page.getByRole('button', { name: 'Make images' }).click();
    await sees(console, 'It could not be loaded.');
    const frame = await page.locator('.thumb-frame').boundingBox();
    expect(frame?.height).toBe(frame?.width);
  });

  it('shows a refusal in the words of the gateway', async () => {
    const { console, page, fake } = await open();
    const error = { message: 'Five gigabytes are stored.', type: 'x', param: null, code: 'storage_full' };
    fake.nextOrder = (route) => route.fulfill({ status: 400, json: { error } });
    await page.getByLabel('What to show').fill('A boat');
    await page.getByRole('button', { name: 'Make images' }).click();
    await sees(console, 'Five gigabytes are stored. storage_full Nothing was charged for it.');
  });

  it('knows its images after a reload', async () => {
    const { console, page, fake } = await open();
    fake.images = ['/files/pictures/fake1'];
    await page.getByLabel('What to show').fill('A boat');
    await page.getByRole('button', { name: 'Make images' }).click();
    await sees(console, 'Charged');
    await page.reload();
    await page.getByRole('img', { name: 'Image 1 of 1: A boat' }).waitFor();
  });

  it('shows names made of markup as they are', async () => {
    const harm = '<img src=x onerror="window.harmed=1">';
    const parameters = {
      [harm]: { type: 'enum', values: [harm] },
      constructor: { type: 'range', min: 1, max: 2 },
    };
    const pricing = [{ billable: harm, unit: 'image', usd: '0.04', variant: harm }];
    const console = await show({ agent: await gateway().newAgent(), viewport: phone });
    const { page } = console;
    const fake = await fakeMedia(console.context, {
      images: [imageModel({ id: harm, name: harm, parameters, pricing })],
    });
    fake.images = ['javascript:window.harmed=1', 'data:text/html,<script>window.harmed=1</script>'];
    await console.open('pictures');
    await sees(console, `$0.04 per image ${harm} (${harm})`);
    await page.getByLabel('What to show').fill(harm);
    await page.getByRole('button', { name: 'Make images' }).click();
    await sees(console, 'It could not be loaded.');
    expect(await page.evaluate('window.harmed ?? null')).toBe(null);
    await page.getByRole('link', { name: 'It could not be loaded.' }).first().click();
    expect(await page.evaluate('window.harmed ?? null')).toBe(null);
    // The policy forbids them, and the browser notes that.
    for (const fault of console.faults.splice(0))
      expect(fault).toMatch(/Content Security Policy|^request: javascript:/);
  });
});
