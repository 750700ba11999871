import { MemberChanges } from '../json/json-object.ts';
import type { UpstreamFormat } from './call-format.ts';
import { chatFormat } from './chat-format.ts';
import { writeBody } from './edit-member.ts';

/**
 * The format of a kind that speaks none of the three. Its calls are always translated and always asked for as a stream, so its answers
 * are read by the translation alone.
 */
export const ownFormat: UpstreamFormat = {
  name: 'own',
  buildBody: ({ body }) => writeBody(body, new MemberChanges()),
  readAnswer: () => ({ kind: 'malformed', usage: null }),
  openStream: onlyTranslated,
  openAssembly: onlyTranslated,
  idOf: chatFormat.idOf,
};

function onlyTranslated(): never {
  throw new Error('An answer in a format of its own is read by the translation.');
}
