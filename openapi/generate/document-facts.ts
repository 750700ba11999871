import type { DocumentFacts } from './make-document.ts';

export const v1Facts: DocumentFacts = {
  title: 'Faregate',
  description:
    'A prepaid gateway for AI model calls. One key gives access to every served model. Each call holds its ' +
    'worst-case cost from a credit balance when it starts and is charged its real cost when it ends.',
  version: '1.0.0',
  baseUrl: '/v1',
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

export const adminFacts: DocumentFacts = {
  title: 'Faregate admin API',
  description:
    "The operator's interface, on the internal port: agents, credit, keys, the catalogue, the ledger and markets. " +
    'The `faregate` command is a client of it. Every change, but for the records of feeds, is written to the audit log before it is done, under the name that the header `x-operator` gives.',
  version: '1.0.0',
  baseUrl: '/admin',
  tags: [
    { name: 'Agents', description: 'Who may call.' },
    { name: 'Credit', description: 'What calls are paid from.' },
    { name: 'Keys', description: "Agents' API keys." },
    { name: 'Clock', description: 'What to do when the clock of a machine was wrong.' },
    { name: 'Catalogue', description: 'Providers, models and prices.' },
    { name: 'Ledger', description: 'The books.' },
    { name: 'Markets', description: 'In which credit is traded.' },
    { name: 'Calls', description: 'Single calls, by their id.' },
    { name: 'Audit log', description: 'Who changed what.' },
  ],
  securitySchemes: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'The admin token, as `Authorization: Bearer <token>`.',
    },
  },
};
