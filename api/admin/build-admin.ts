import type { Express } from 'express';
import type { Secret } from '#core/secret.ts';
import { mountNotFound } from '../http/mount-not-found.ts';
import { createExpress, mountRouter } from '../http/mount-router.ts';
import { createAuthenticateOperator } from './authenticate-operator.ts';
import type { AdminDeps } from './context.ts';
import { adminRouter } from './router.ts';

/** The largest body of a request to the admin API. */
const ADMIN_BODY_BYTES = 64 * 1024;

export interface AdminOptions extends AdminDeps {
  token: Secret;
  callIdHeader: string;
}

/** Serves `/admin/…` on the internal port. */
export function buildAdmin({ token, callIdHeader, ...deps }: AdminOptions): Express {
  const { ids, log } = deps;
  const app = createExpress();
  const edge = { basePath: '/admin', ids, callIdHeader, log };
  mountRouter(app, adminRouter, {
    ...edge,
    deps,
    authenticate: createAuthenticateOperator(token),
    recall: () => null,
    admitStart: () => null,
    bodyBytesMax: () => ADMIN_BODY_BYTES,
  });
  mountNotFound(app, edge);
  return app;
}
