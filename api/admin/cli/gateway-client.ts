import { z } from 'zod';
import { CATALOG_FETCH_MS } from '#core/limits.ts';
import { OPERATOR_HEADER, OPERATOR_NAME } from '../authenticate-operator.ts';
import { CliError, exitCodes, unreachable } from './cli-error.ts';
import type { GatewayAddress } from './find-gateway.ts';
import { printable } from './terminal.ts';

/** Time for one request of the command. A reload of the catalogue waits for the lists of all providers. */
const CLI_TIMEOUT_MS = 2 * CATALOG_FETCH_MS;

/** An answer twice: as it came, for programs, and checked, for the tables. */
export interface Answer<T> {
  raw: unknown;
  value: T;
}

export interface GatewayClient {
  get<T>(schema: z.ZodType<T>, path: string, query?: Record<string, string | undefined>): Promise<Answer<T>>;
  post<T>(schema: z.ZodType<T>, path: string, body?: object): Promise<Answer<T>>;
}

const errorBody = z.looseObject({ error: z.looseObject({ message: z.string(), code: z.string() }) });

/** `user`: who runs the command. */
export function createGatewayClient({ url, token }: GatewayAddress, user: string | null): GatewayClient {
  const headers: Record<string, string> = { authorization: `Bearer ${token.reveal()}` };
  if (user !== null && OPERATOR_NAME.test(user)) headers[OPERATOR_HEADER] = user;
  async function ask<T>(schema: z.ZodType<T>, path: string, init: RequestInit): Promise<Answer<T>> {
    const { status, raw } = await send(url + path, {
      ...init,
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(CLI_TIMEOUT_MS),
    });
    if (status !== 200) throw refusal(url, raw);
    const checked = schema.safeParse(raw);
    if (!checked.success) throw notAGateway(url);
    return { raw, value: checked.data };
  }

  return {
    get(schema, path, query = {}) {
      const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
      const search = new URLSearchParams(given).toString();
      return ask(schema, search === '' ? path : `${path}?${search}`, { method: 'GET' });
    },
    post: (schema, path, body = {}) => ask(schema, path, { method: 'POST', body: JSON.stringify(body) }),
  };
}

async function send(url: string, init: RequestInit): Promise<{ status: number; raw: unknown }> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    throw unreachable(
      `No gateway answers at ${new URL(url).origin} (${reasonOf(error)}). Is it running? ` +
        'Start it with "make run", or name another with --url.',
    );
  }
  try {
    return { status: response.status, raw: await response.json() };
  } catch {
    throw notAGateway(url);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return `nothing within ${CLI_TIMEOUT_MS / 1000} s`;
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : error.message;
}

function refusal(url: string, raw: unknown): CliError {
  const checked = errorBody.safeParse(raw);
  if (!checked.success) return notAGateway(url);
  const { message, code } = checked.data.error;
  const hint =
    code === 'invalid_api_key' ? ' The gateway does not know the token that this command found.' : '';
  // Whatever it repeats of what somebody wrote stays in its line.
  return new CliError(exitCodes.refused, printable(message) + hint, checked.data);
}

const notAGateway = (url: string): CliError =>
  unreachable(
    `What answers at ${new URL(url).origin} is not the admin API of a Faregate gateway of this release.`,
  );
