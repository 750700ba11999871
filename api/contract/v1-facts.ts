import type { DocumentFacts } from './document.ts';

export const v1Facts: DocumentFacts = {
  title: 'Faregate',
  description:
    'A prepaid gateway for AI model calls. One key gives access to every served model. Each call holds its ' +
    'worst-case cost from a credit balance when it starts and is charged its real cost when it ends.',
  version: '1.0.0',
  serverUrl: '/v1',
  tags: [
    { name: 'Inference', description: 'Calls to models, paid from the balance.' },
    { name: 'Videos', description: 'Ordered, polled, and downloaded when they are done.' },
    { name: 'Images', description: 'Images that models make, paid from the balance.' },
    { name: 'Uploads', description: 'Images of your own, for models to read.' },
    { name: 'Account', description: "The agent's credit and calls." },
    { name: 'Markets', description: 'Where credit is traded for USDT. For anybody, without a key.' },
  ],
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: 'An API key as `Authorization: Bearer <key>`.' },
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
      description: 'The same key in a header of its own.',
    },
  },
};
