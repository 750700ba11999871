import { hasTool } from '../tools/tool.ts';
import { type BreakOf, judgeBreaks, readAcceptedBreaks } from './accepted-breaks.ts';
import { findBreaks, readDocument } from './find-breaks.ts';
import { documentFile, documentNames, lastRelease } from './last-release.ts';

/*
 * `node test/releases/check-documents.ts`, a part of `make check`: the documents of the interface against those of the
 * last release.
 */
if (hasTool('oasdiff')) {
  const found = await Promise.all(
    documentNames.map(async (document): Promise<BreakOf[]> => {
      const breaks = await findBreaks(
        readDocument(lastRelease.documents[document]),
        readDocument(documentFile(document)),
      );
      return breaks.map((each) => ({ document, ...each }));
    }),
  );
  const wrong = judgeBreaks(found.flat(), readAcceptedBreaks());
  for (const sentence of wrong) console.error(sentence);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
// The tests of it are skipped then, which CI counts as failure.
else
  console.warn(
    'SKIPPED: the documents are not compared with the last release, because there is no oasdiff here.',
  );
