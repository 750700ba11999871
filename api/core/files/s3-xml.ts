import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';

/*
 * The answers of an S3 store that are read, as their XML says them. Every value is a text: `<IsTruncated>true</IsTruncated>`. An answer
 * that is not of the wanted form throws, except for errors, whose code is then `no code`.
 */

const parser = new XMLParser({
  parseTagValue: false,
  ignoreAttributes: true,
  isArray: (name) => name === 'Contents' || name === 'Upload',
});

/** An element without content is read as an empty text. */
const element = <T extends z.ZodRawShape>(shape: T) =>
  z.preprocess((value) => (value === '' ? {} : value), z.object(shape));

const isTruncated = z
  .string()
  .default('')
  .transform((text) => text === 'true');

const objectPage = z.object({
  ListBucketResult: element({
    Contents: z.array(z.object({ Key: z.string() })).default([]),
    IsTruncated: isTruncated,
  }),
});

/** A member that is missing is an empty text, so that one odd upload does not end the sweep. */
const member = z.string().default('');
const upload = element({ Key: member, UploadId: member, Initiated: member });

const uploadPage = z.object({
  ListMultipartUploadsResult: element({
    Upload: z.array(upload).default([]),
    IsTruncated: isTruncated,
  }),
});

const begunUpload = z.object({ InitiateMultipartUploadResult: z.object({ UploadId: z.string().min(1) }) });

const completedUpload = z.object({ CompleteMultipartUploadResult: z.unknown() });

const refusal = z.object({ Error: z.object({ Code: z.string() }) });

/** One page of the objects of a bucket. */
export const readObjectPage = (xml: Buffer): z.infer<typeof objectPage>['ListBucketResult'] =>
  readAs(objectPage, xml, 'a list of objects').ListBucketResult;

/** One page of the uploads of many parts that have not ended. */
export const readUploadPage = (xml: Buffer): z.infer<typeof uploadPage>['ListMultipartUploadsResult'] =>
  readAs(uploadPage, xml, 'a list of uploads').ListMultipartUploadsResult;

/** The id of an upload of many parts that has just begun. */
export const readUploadId = (xml: Buffer): string =>
  readAs(begunUpload, xml, 'the id of an upload').InitiateMultipartUploadResult.UploadId;

/** Whether the store has put the parts of an upload together. It may find out that it failed after it has answered 200. */
export const isUploadComplete = (xml: Buffer): boolean => completedUpload.safeParse(parse(xml)).success;

/** Stores also wrap an error, as in `<ErrorResponse>`, and an answer may be cut off behind its code. */
export function readErrorCode(xml: Buffer): string {
  const parsed = refusal.safeParse(parse(xml));
  if (parsed.success) return parsed.data.Error.Code;
  return /<Code>(\w+)<\/Code>/.exec(xml.toString('utf8'))?.[1] ?? 'no code';
}

function readAs<T extends z.ZodType>(schema: T, xml: Buffer, what: string): z.infer<T> {
  const parsed = schema.safeParse(parse(xml));
  if (parsed.success) return parsed.data;
  throw new Error(`The S3 store's answer is not ${what}.`);
}

/** `null`: it is not XML. */
function parse(xml: Buffer): unknown {
  try {
    return parser.parse(xml);
  } catch {
    return null;
  }
}
