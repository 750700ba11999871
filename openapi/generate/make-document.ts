import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument } from 'trpc-to-openapi';
import type { z } from 'zod';
import { readRoutes, shapeOfPath } from '../../api/contract/route.ts';
import { errorResponses } from './error-response.ts';
import { finishOperations } from './finish-operations.ts';
import { finishSchemas } from './finish-schemas.ts';

/** What a document says beside its routes. */
export interface DocumentFacts {
  title: string;
  description: string;
  version: string;
  /** Relative to where the document is served, or absolute. */
  serverUrl: string;
  tags: readonly { name: string; description: string }[];
  /** Any one of them is enough. */
  securitySchemes: Record<string, SecurityScheme>;
}

export type SecurityScheme =
  | { type: 'http'; scheme: 'bearer'; description: string }
  | { type: 'apiKey'; in: 'header'; name: string; description: string };

/**
 * The OpenAPI 3.1 document of a router, as text: the same bytes for the same router. The generator knows
 * schemas and paths; two passes over its result add what it cannot say and what SDK generators need.
 */
export function makeDocument(router: AnyTRPCRouter, facts: DocumentFacts): string {
  const routes = readRoutes(router);
  const errors = routes.map(({ facts: { path } }) => errorResponses[shapeOfPath(path)]);
  const events = routes.flatMap(({ facts: { event } }) => (event === undefined ? [] : [event]));
  const document = generateOpenApiDocument(router, {
    openApiVersion: '3.1.0',
    title: facts.title,
    description: facts.description,
    version: facts.version,
    baseUrl: facts.serverUrl,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    // Schemas that no procedure's input or output reaches have to be handed in by name.
    defs: Object.fromEntries([...events, ...errors].map((schema) => [schemaId(schema), schema])),
    securitySchemes: facts.securitySchemes,
  });
  document.tags = [...facts.tags];
  finishOperations(document, routes);
  return `${JSON.stringify(finishSchemas(document), null, 2)}\n`;
}

function schemaId(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('A schema of the document has no id to be named by.');
  return id;
}
