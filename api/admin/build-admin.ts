import type { Express } from 'express';
import { ADMIN_BODY_BYTES } from '#core/limits.ts';
import type { Secret } from '#core/secret.ts';
import { createExpress } from '../http/create-express.ts';
import { mountNotFound } from '../http/mount-not-found.ts';
import { mountRouter } from '../http/mount-router.ts';
import { openAuditLog } from './audit-log.ts';
import { createAuthenticateOperator } from './authenticate-operator.ts';
import type { AdminDeps } from './context.ts';
import { adminRouter } from './router.ts';

export interface AdminOptions extends Omit<AdminDeps, 'audit'> {
  dataDir: string;
  token: Secret;
  callIdHeader: string;
}

export interface Admin {
  /** Serves `/admin/…` on the internal port. */
  app: Express;
  /** After the last request has ended. */
  close(): Promise<void>;
}

export function buildAdmin({ dataDir, token, callIdHeader, ...deps }: AdminOptions): Admin {
  const { ids, log } = deps;
  const audit = openAuditLog(dataDir);
  const app = createExpress();
  const edge = { basePath: '/admin', ids, callIdHeader, log };
  mountRouter(app, adminRouter, {
    ...edge,
    deps: { ...deps, audit },
    authenticate: createAuthenticateOperator(token),
    recall: () => null,
    admitStart: () => null,
    bodyBytesMax: () => ADMIN_BODY_BYTES,
  });
  mountNotFound(app, edge);
  return { app, close: () => audit.close() };
}
