import { isIP } from 'node:net';
import { z } from 'zod';
import { isHostName } from '#core/host-name.ts';
import { BALANCE_CAP_NANO_USD, MODEL_ID_CHARS_MAX } from '#core/limits.ts';
import { parseAttoUsd, parseFactorPpm, parseNanoUsd } from '#core/money.ts';
import { isServableId } from '../providers/servable-id.ts';

/** A bare YAML number would pass through a float before anyone could count its digits. */
function decimalText(example: string) {
  return z.string({
    error: ({ input }) =>
      typeof input === 'number'
        ? `has to stand in quotes, as "${example}": a bare number is a float`
        : undefined,
  });
}

export const dollars = decimalText('12.5')
  .regex(/^\d{1,7}(\.\d{1,9})?$/, {
    error: 'is no amount of dollars: digits, at most nine of them after the point',
    abort: true,
  })
  .refine((text) => (parseNanoUsd(text) ?? 0n) <= BALANCE_CAP_NANO_USD, 'is more than 9000000 dollars');

export const price = decimalText('0.0000025')
  .regex(/^\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?$/, {
    error: 'is no price: dollars per unit, as "0.0000025"',
    abort: true,
  })
  .refine((text) => parseAttoUsd(text) !== null, 'is no price that can be counted');

export const factor = decimalText('1.055')
  .regex(/^\d{1,4}(\.\d{1,6})?$/, {
    error: 'is no factor: digits, at most six of them after the point',
    abort: true,
  })
  .refine((text) => parseFactorPpm(text) !== null, 'has to be more than 0');

export const stopSwitch = z.boolean().default(false);
export const modelStopSwitch = stopSwitch.describe(
  'Stop switch of this model; with it, the id alone is enough, imported models included.',
);

export const text = (charsMax: number) => z.string().min(1).max(charsMax);
export const wholeNumber = (min: number, max: number) => z.int().min(min).max(max);
/** The path of a file that holds a secret. */
export const secretFile = text(4_096).optional();

/** Printable, without blanks: it goes into addresses, bodies and tables. */
export const modelName = text(MODEL_ID_CHARS_MAX).regex(
  /^[\x21-\x7e]+$/,
  'has to be letters, digits and signs without blanks',
);

/** Of a model of videos or images; suffixes steer text models alone, so an id with one would be misread. */
export const mediaModelId = modelName
  .refine(
    isServableId,
    'begins with a dot, or has a suffix that callers add to ids (:online, :free and the like)',
  )
  .describe('What callers send as `model`.');

/** Who makes it. */
export const upstreamPlace = {
  provider: text(63).optional().describe('Id of a provider above.'),
  model: modelName.optional().describe("The model's id there."),
};

export const webAddress = addressOf(
  ['http:', 'https:'],
  'is no http or https address without user, query and fragment',
);

/** User and query are where secrets hide in addresses, and none may stand in the file. */
export function addressOf(protocols: readonly string[], error: string) {
  return z.string().max(2_048).refine(isAddress, error).meta({ format: 'uri' });

  function isAddress(text: string): boolean {
    const url = URL.parse(text);
    if (url === null || !protocols.includes(url.protocol) || !isHostName(url.hostname)) return false;
    return url.username === '' && url.password === '' && !/[?#\s]/.test(text);
  }
}

/** `10.0.0.0/8`, `192.168.1.7`, `fd00::/8`. */
export const network = z.string().refine(isNetwork, 'is no IP address or CIDR range');

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

export const variableName = z
  .string()
  // Says nothing of the value: a key pasted here by mistake must not reach a terminal or a log.
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'has to be the name of an environment variable');
