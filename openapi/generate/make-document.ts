import type { AnyTRPCRouter } from '@trpc/server';
import { type GenerateOpenApiDocumentOptions, generateOpenApiDocument } from 'trpc-to-openapi';
import type { z } from 'zod';
import { readRoutes, shapeOfPath } from '../../api/contract/route.ts';
import { errorResponses } from './error-response.ts';
import { finishOperations } from './finish-operations.ts';
import { finishSchemas } from './finish-schemas.ts';
import { namePassedFields } from './name-passed-fields.ts';

/**
 * The facts of a document beside its routes. `baseUrl` is absolute, or relative to the place where the document is served. Any one of the
 * `securitySchemes` is enough.
 */
export interface DocumentFacts
  extends Pick<
    GenerateOpenApiDocumentOptions,
    'title' | 'description' | 'version' | 'baseUrl' | 'securitySchemes'
  > {
  tags: readonly { name: string; description: string }[];
}

/**
 * The OpenAPI 3.1 document of a router, as text: the same bytes for the same router. The generator knows
 * schemas and paths; two passes over its result add what it cannot say and what SDK generators need.
 */
export function makeDocument(router: AnyTRPCRouter, facts: DocumentFacts): string {
  const routes = readRoutes(router);
  const errors = routes.map(({ facts: { path } }) => errorResponses[shapeOfPath(path)]);
  const events = routes.flatMap(({ facts: { event } }) => (event === undefined ? [] : [event]));
  const { tags, ...described } = facts;
  const document = generateOpenApiDocument(router, {
    ...described,
    openApiVersion: '3.1.0',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    // Schemas that no procedure's input or output reaches have to be handed in by name.
    defs: Object.fromEntries([...events, ...errors].map((schema) => [schemaId(schema), schema])),
  });
  document.tags = [...tags];
  finishOperations(document, routes);
  namePassedFields(Object(document.components).schemas);
  return `${JSON.stringify(finishSchemas(document), null, 2)}\n`;
}

function schemaId(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('A schema of the document has no id to be named by.');
  return id;
}
