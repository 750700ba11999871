import express, { type Express } from 'express';

/** An app that adds nothing of its own: paths match to the letter, and no header tells what serves them. */
export function createExpress(): Express {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.set('query parser', false);
  app.set('etag', false);
  app.set('x-powered-by', false);
  return app;
}
