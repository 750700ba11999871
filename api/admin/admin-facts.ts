import type { DocumentFacts } from '../contract/document.ts';

export const adminFacts: DocumentFacts = {
  title: 'Faregate admin API',
  description:
    "The operator's interface, on the internal port: agents, credit, keys, the catalogue, the ledger and markets. " +
    'The `faregate` command is a client of it. Every change, but for the records of feeds, is written to the audit log before it is done, under the name that the header `x-operator` gives.',
  version: '1.0.0',
  serverUrl: '/admin',
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
